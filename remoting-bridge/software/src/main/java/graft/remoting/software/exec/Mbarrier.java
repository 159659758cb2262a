package graft.remoting.software.exec;

/**
 * Barriers that are 64-bit objects in shared memory (PTX ISA, "mbarrier"). Addresses are checked;
 * one Java thread at a time runs the threads that share an object.
 *
 * <p>The word: arrivals that are pending in the bits 0 to 19, arrivals of a phase in the bits 20 to
 * 39, bytes that are still to come in the bits 40 to 62, signed, and the parity of the phase in bit
 * 63.
 */
public final class Mbarrier {
  private static final long COUNT_MASK = 0xfffff;

  private Mbarrier() {}

  private static long word(int phase, long pending, long expected, long bytes) {
    return (long) phase << 63
        | (bytes & 0x7fffff) << 40
        | (expected & COUNT_MASK) << 20
        | pending & COUNT_MASK;
  }

  private static int phase(long word) {
    return (int) (word >>> 63);
  }

  private static long pending(long word) {
    return word & COUNT_MASK;
  }

  private static long expected(long word) {
    return word >>> 20 & COUNT_MASK;
  }

  private static long bytes(long word) {
    return word << 1 >> 41;
  }

  /** Stores a state, or that of the next phase if this one is complete. */
  private static void settle(long address, int phase, long pending, long expected, long bytes) {
    boolean complete = pending == 0 && bytes == 0;
    Access.storeI64(
        address,
        complete ? word(phase ^ 1, expected, expected, 0) : word(phase, pending, expected, bytes));
  }

  public static void init(long address, int count) {
    Access.storeI64(address, word(0, count, count, 0));
  }

  /**
   * Arrives, after noting that bytes are to come.
   *
   * @param dropped how many arrivals fewer the next phases expect
   * @return the state before
   */
  public static long arrive(long address, int count, int dropped, int bytesToCome) {
    long word = Access.loadI64(address);
    settle(
        address,
        phase(word),
        pending(word) - count,
        expected(word) - dropped,
        bytes(word) + bytesToCome);
    return word;
  }

  /** Notes that bytes are to come, or with a negative number that they came. */
  public static void expect(long address, int bytesToCome) {
    arrive(address, 0, 0, bytesToCome);
  }

  /** Whether the phase of a state is complete. */
  public static int isComplete(long address, long state) {
    return phase(Access.loadI64(address)) != phase(state) ? 1 : 0;
  }

  /** Whether the phase of a parity is complete, the present one being the other. */
  public static int isParityComplete(long address, int parity) {
    return phase(Access.loadI64(address)) != (parity & 1) ? 1 : 0;
  }

  public static int pendingCount(long state) {
    return (int) pending(state);
  }
}
