package graft.remoting.software.ir;

/**
 * A point at which a thread stops until others have arrived there too.
 *
 * @param id its number in the kernel, from 0
 * @param kind what happens there
 * @param constantBarrier the barrier if it is known and concerns all threads, else -1
 * @param matrix the matrix operation of the warp, or null
 */
public record SyncPoint(int id, Kind kind, int constantBarrier, MatrixOperation matrix) {

  /** What happens at a synchronization point (PTX ISA, "Parallel Synchronization"). */
  public enum Kind {
    /** bar.sync; arguments: barrier, thread count or 0. */
    BARRIER,
    /** bar.red; arguments: barrier, thread count or 0, predicate. */
    BARRIER_POPC,
    BARRIER_AND,
    BARRIER_OR,
    /** bar.warp.sync; argument: mask. Of the warp kinds, the mask is always the last argument. */
    WARP_SYNC,
    /** shfl.sync; arguments: value, b, c, mask; results: value, predicate. */
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_BFLY,
    SHUFFLE_IDX,
    /** vote.sync; arguments: predicate, mask. */
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNI,
    VOTE_BALLOT,
    /** match.sync; arguments: value low half, value high half, mask; results: mask, predicate. */
    MATCH_ANY,
    MATCH_ALL,
    /** redux.sync; arguments: value, mask. */
    REDUX_ADD,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR,
    REDUX_MIN_S,
    REDUX_MAX_S,
    REDUX_MIN_U,
    REDUX_MAX_U,
    /** elect.sync; argument: mask; results: leader, predicate. */
    ELECT,
    /** An operation on matrices; argument: mask. */
    MATRIX,
    /** activemask: combines the threads of the warp that wait at the same point. */
    ACTIVE_MASK,
    /** The back edge of a loop that may wait for another thread: lets other threads run. */
    YIELD;

    /** Returns whether the point concerns the threads of one warp that a mask names. */
    public boolean isWarp() {
      return ordinal() >= WARP_SYNC.ordinal() && ordinal() <= MATRIX.ordinal();
    }

    /** Returns whether the point concerns all threads of the block. */
    public boolean isBarrier() {
      return ordinal() <= BARRIER_OR.ordinal();
    }
  }
}
