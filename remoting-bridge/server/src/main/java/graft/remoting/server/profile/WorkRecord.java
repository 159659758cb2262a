package graft.remoting.server.profile;

import java.util.List;

/**
 * A piece of work that a GPU has done, as CUPTI saw it.
 *
 * @param correlation CUPTI's number of the driver's call that queued it
 * @param start when it began, in nanoseconds of CUPTI's time
 * @param end when it ended
 * @param bytes how much was copied or filled
 * @param name the kernel's, as the compiler calls it; empty for other work
 * @param grid blocks in each dimension; empty for other work than kernels
 * @param block threads of a block in each dimension
 * @param memory a kernel's static shared, dynamic shared and local memory, the last of one thread
 * @param registers of a thread
 * @param value what memory is filled with
 * @param from the kind of a copy's source, as CUpti_ActivityMemoryKind counts
 * @param to the kind of the target
 */
public record WorkRecord(
    int correlation,
    Kind kind,
    long start,
    long end,
    long bytes,
    String name,
    List<Integer> grid,
    List<Integer> block,
    List<Integer> memory,
    int registers,
    int value,
    byte from,
    byte to) {
  /** Kinds of work, by the numbers that clients know. */
  public enum Kind {
    COPY(1),
    FILL(2),
    KERNEL(3);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    /** Returns the number in a client's record. */
    public int number() {
      return number;
    }
  }
}
