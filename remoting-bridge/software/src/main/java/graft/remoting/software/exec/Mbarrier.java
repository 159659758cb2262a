package graft.remoting.software.exec;

/**
 * Barriers that are 64-bit objects in shared memory (PTX ISA, "mbarrier"). Addresses have been
 * checked; one Java thread at a time runs the threads that share an object.
 *
 * <p>The word: the pending arrivals in bits 0 to 19, the arrivals of a phase in bits 20 to 39, the
 * bytes that have not yet arrived in bits 40 to 62, signed, and the parity of the phase in bit 63.
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

  /** Stores a state, or the state of the next phase if this phase is complete. */
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
   * Arrives, after adding bytes that are expected.
   *
   * @param dropped by how many arrivals the next phases are reduced
   * @return the previous state
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

  /** Adds bytes that are expected; a negative number means that bytes have arrived. */
  public static void expect(long address, int bytesToCome) {
    arrive(address, 0, 0, bytesToCome);
  }

  /** Whether the phase of a state is complete. */
  public static int isComplete(long address, long state) {
    return phase(Access.loadI64(address)) != phase(state) ? 1 : 0;
  }

  /**
   * Returns whether the phase of a parity is complete, the current phase having the other parity.
   */
  public static int isParityComplete(long address, int parity) {
    return phase(Access.loadI64(address)) != (parity & 1) ? 1 : 0;
  }

  public static int pendingCount(long state) {
    return (int) pending(state);
  }
}
