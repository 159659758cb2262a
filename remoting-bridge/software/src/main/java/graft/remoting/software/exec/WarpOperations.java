package graft.remoting.software.exec;

import graft.remoting.software.ir.SyncPoint;

/** Shuffles, votes, matches and reductions of a warp (PTX ISA, "shfl.sync" and following). */
final class WarpOperations {
  static final int RELEASED = 1;
  static final int LIVE = 2;

  private WarpOperations() {}

  /**
   * Lets the threads of a warp continue whose partners have all arrived. Threads that named the
   * same mask for the same kind of operation belong together; threads that have ended are not
   * waited for.
   *
   * @return {@link #RELEASED} if some continue, {@link #LIVE} if some have not ended
   */
  static int release(ThreadBlock b, KernelCode code, int first, int lanes) {
    int[] pc = b.pc;
    int live = 0;
    int open = 0;
    for (int lane = 0; lane < lanes; lane++) {
      int state = pc[first + lane];
      if (state != KernelCode.EXITED) {
        live |= 1 << lane;
        if (code.syncPoint(state).kind().isWarp()) {
          open |= 1 << lane;
        }
      }
    }
    int outcome = live != 0 ? LIVE : 0;
    while (open != 0) {
      int leader = Integer.numberOfTrailingZeros(open);
      SyncPoint point = code.syncPoint(pc[first + leader]);
      int mask = b.mask[first + leader];
      int group = 0;
      for (int rest = open; rest != 0; rest &= rest - 1) {
        int lane = Integer.numberOfTrailingZeros(rest);
        if (b.mask[first + lane] == mask && isSame(code.syncPoint(pc[first + lane]), point)) {
          group |= 1 << lane;
        }
      }
      open &= ~group;
      if ((mask & live & ~group) == 0) {
        execute(point, b, first, group);
        for (int rest = group; rest != 0; rest &= rest - 1) {
          int t = first + Integer.numberOfTrailingZeros(rest);
          pc[t] = code.resume(pc[t]);
        }
        outcome |= RELEASED;
      }
    }
    return outcome;
  }

  /** activemask: the threads of the warp that wait at the same point are active together. */
  static boolean releaseActive(ThreadBlock b, KernelCode code, int first, int lanes) {
    int[] pc = b.pc;
    boolean released = false;
    for (int lane = 0; lane < lanes; lane++) {
      int state = pc[first + lane];
      if (state < KernelCode.EXITED && code.syncPoint(state).kind() == SyncPoint.Kind.ACTIVE_MASK) {
        int together = 0;
        for (int other = lane; other < lanes; other++) {
          if (pc[first + other] == state) {
            together |= 1 << other;
          }
        }
        for (int rest = together; rest != 0; rest &= rest - 1) {
          int t = first + Integer.numberOfTrailingZeros(rest);
          b.result0[t] = together;
          pc[t] = code.resume(state);
        }
        released = true;
      }
    }
    return released;
  }

  private static boolean isSame(SyncPoint a, SyncPoint b) {
    return a.kind() == b.kind() && java.util.Objects.equals(a.matrix(), b.matrix());
  }

  private static void execute(SyncPoint point, ThreadBlock b, int first, int group) {
    SyncPoint.Kind kind = point.kind();
    switch (kind) {
      case MATRIX -> MatrixOperations.execute(point.matrix(), b, first, group);
      case WARP_SYNC -> {}
      case SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX -> shuffle(kind, b, first, group);
      case VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT -> vote(kind, b, first, group);
      case MATCH_ANY, MATCH_ALL -> match(kind, b, first, group);
      case ELECT -> {
        int leader = Integer.numberOfTrailingZeros(group);
        for (int rest = group; rest != 0; rest &= rest - 1) {
          int lane = Integer.numberOfTrailingZeros(rest);
          b.result0[first + lane] = leader;
          b.result1[first + lane] = lane == leader ? 1 : 0;
        }
      }
      default -> reduce(kind, b, first, group);
    }
  }

  private static void shuffle(SyncPoint.Kind kind, ThreadBlock b, int first, int group) {
    for (int rest = group; rest != 0; rest &= rest - 1) {
      int lane = Integer.numberOfTrailingZeros(rest);
      int t = first + lane;
      int offset = b.argument1[t] & 31;
      int clamp = b.argument2[t] & 31;
      int segment = b.argument2[t] >> 8 & 31;
      int last = lane & segment | clamp & ~segment;
      int source;
      boolean inRange;
      switch (kind) {
        case SHUFFLE_UP -> {
          source = lane - offset;
          inRange = source >= last;
        }
        case SHUFFLE_DOWN -> {
          source = lane + offset;
          inRange = source <= last;
        }
        case SHUFFLE_BFLY -> {
          source = lane ^ offset;
          inRange = source <= last;
        }
        default -> {
          source = lane & segment | offset & ~segment;
          inRange = source <= last;
        }
      }
      if (!inRange || (group >>> source & 1) == 0) {
        source = lane; // reading from a thread that does not participate is undefined
      }
      b.result0[t] = b.argument0[first + source];
      b.result1[t] = inRange ? 1 : 0;
    }
  }

  private static void vote(SyncPoint.Kind kind, ThreadBlock b, int first, int group) {
    int ballot = 0;
    for (int rest = group; rest != 0; rest &= rest - 1) {
      int lane = Integer.numberOfTrailingZeros(rest);
      if (b.argument0[first + lane] != 0) {
        ballot |= 1 << lane;
      }
    }
    int result =
        switch (kind) {
          case VOTE_ALL -> ballot == group ? 1 : 0;
          case VOTE_ANY -> ballot != 0 ? 1 : 0;
          case VOTE_UNI -> ballot == group || ballot == 0 ? 1 : 0;
          default -> ballot;
        };
    for (int rest = group; rest != 0; rest &= rest - 1) {
      b.result0[first + Integer.numberOfTrailingZeros(rest)] = result;
    }
  }

  private static void match(SyncPoint.Kind kind, ThreadBlock b, int first, int group) {
    for (int rest = group; rest != 0; rest &= rest - 1) {
      int t = first + Integer.numberOfTrailingZeros(rest);
      int equal = 0;
      for (int others = group; others != 0; others &= others - 1) {
        int o = Integer.numberOfTrailingZeros(others);
        if (b.argument0[first + o] == b.argument0[t] && b.argument1[first + o] == b.argument1[t]) {
          equal |= 1 << o;
        }
      }
      boolean all = equal == group;
      b.result0[t] = kind == SyncPoint.Kind.MATCH_ANY ? equal : all ? group : 0;
      b.result1[t] = all ? 1 : 0;
    }
  }

  private static void reduce(SyncPoint.Kind kind, ThreadBlock b, int first, int group) {
    int result = 0;
    boolean started = false;
    for (int rest = group; rest != 0; rest &= rest - 1) {
      int value = b.argument0[first + Integer.numberOfTrailingZeros(rest)];
      if (!started) {
        result = value;
        started = true;
        continue;
      }
      result =
          switch (kind) {
            case REDUX_ADD -> result + value;
            case REDUX_AND -> result & value;
            case REDUX_OR -> result | value;
            case REDUX_XOR -> result ^ value;
            case REDUX_MIN_S -> Math.min(result, value);
            case REDUX_MAX_S -> Math.max(result, value);
            case REDUX_MIN_U -> Integer.compareUnsigned(result, value) <= 0 ? result : value;
            default -> Integer.compareUnsigned(result, value) >= 0 ? result : value;
          };
    }
    for (int rest = group; rest != 0; rest &= rest - 1) {
      b.result0[first + Integer.numberOfTrailingZeros(rest)] = result;
    }
  }
}
