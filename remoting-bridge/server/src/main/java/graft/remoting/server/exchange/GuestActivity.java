package graft.remoting.server.exchange;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * For how long each session of a guest has lately had work on the GPU, by the worker's own
 * measurement ({@link GpuLease}). The workers of a guest write to and read from the file of {@link
 * GuestUse}, so that a guest sees its own sessions and no others. In its slot each worker keeps
 * these words of 8 bytes:
 *
 * <table>
 * <caption>The words</caption>
 * <tr><td>0</td><td>the process of the guest that the session serves, as the guest says; 0 if it
 * has not said</td></tr>
 * <tr><td>8</td><td>the time since which there is work on the GPU; 0 without work</td></tr>
 * <tr><td>16</td><td>{@link #PERIODS} words, for period {@code p} the word {@code p % PERIODS}: the
 * number of the period, and in the lowest {@value #BUSY_BITS} bits the nanoseconds with work that
 * has ended</td></tr>
 * </table>
 *
 * Times are those of {@link System#nanoTime}, which the processes of a machine share; period {@code
 * p} begins at {@code p * PERIOD_NANOS}. A compromised worker can write anything, but only to slots
 * of its own guest: whatever is read, no session has more work in a period than the period is long.
 * Thread-safe.
 */
public final class GuestActivity {
  /** The number of periods that are kept. */
  public static final int PERIODS = 16;

  /** The length of a period. */
  public static final long PERIOD_NANOS = 200_000_000;

  /** The bytes of a slot. */
  static final int BYTES = Long.BYTES * (2 + PERIODS);

  private static final int PROCESS = 0;
  private static final int SINCE = 8;
  private static final int BUSY = 16;
  private static final int BUSY_BITS = 28;
  private static final long BUSY_MASK = (1L << BUSY_BITS) - 1;

  private final long slots;
  private final int slotBytes;
  private final int count;
  private final long own;
  private final LongSupplier nanos;

  @GuardedBy("this")
  private long since;

  /**
   * Uses the slots of a file.
   *
   * @param slots the address of the first slot's part for this class; 0 for none
   * @param slotBytes from one slot to the next
   * @param own the number of this session's slot
   * @param nanos the clock of {@link GpuLease}
   */
  GuestActivity(long slots, int slotBytes, int count, int own, LongSupplier nanos) {
    this.slots = slots;
    this.slotBytes = slotBytes;
    this.count = count;
    this.own = slots + (long) slotBytes * own;
    this.nanos = nanos;
  }

  /** Returns the activity of a session that nobody measures. */
  static GuestActivity none() {
    return new GuestActivity(0, 0, 0, 0, System::nanoTime);
  }

  /**
   * What one session did.
   *
   * @param slot the number of its slot
   * @param process its process in the guest, as the guest says; 0 if it has not said
   * @param busy the nanoseconds with work in each period, the oldest first; the last period is the
   *     present one
   */
  public record Session(int slot, long process, List<Long> busy) {}

  /**
   * What the sessions of the guest did.
   *
   * @param at the time of the reading, in nanoseconds
   */
  public record Reading(long at, List<Session> sessions) {}

  /** Notes which process of the guest the session serves. */
  public void serves(long process) {
    if (slots != 0) {
      Memory.putLongVolatile(own + PROCESS, process);
    }
  }

  /** Notes that the session has work on the GPU from now on. */
  synchronized void began(long at) {
    since = at;
    if (slots != 0) {
      Memory.putLongVolatile(own + SINCE, at);
    }
  }

  /** Notes that the session has no more work on the GPU. */
  synchronized void ended(long at) {
    if (slots == 0) {
      return;
    }
    long last = Math.floorDiv(at, PERIOD_NANOS);
    long first = Math.max(Math.floorDiv(since, PERIOD_NANOS), last - PERIODS + 1);
    for (long period = first; period <= last; period++) {
      long word = own + BUSY + Long.BYTES * Math.floorMod(period, (long) PERIODS);
      long busy = busy(Memory.getLongVolatile(word), period) + within(since, at, period);
      Memory.putLongVolatile(word, (period << BUSY_BITS) | Math.min(busy, PERIOD_NANOS));
    }
    Memory.putLongVolatile(own + SINCE, 0); // last, so that a reader misses nothing
  }

  /** Returns what all sessions of the guest did that have a slot. */
  public Reading read() {
    long now = nanos.getAsLong();
    List<Session> sessions = new ArrayList<>();
    for (int slot = 0; slot < count; slot++) {
      long at = slots + (long) slotBytes * slot;
      long process = Memory.getLongVolatile(at + PROCESS);
      sessions.add(new Session(slot, process & 0xffffffffL, read(at, now)));
    }
    return new Reading(now, sessions);
  }

  private static List<Long> read(long slot, long now) {
    long running = Memory.getLongVolatile(slot + SINCE);
    long last = Math.floorDiv(now, PERIOD_NANOS);
    List<Long> result = new ArrayList<>(PERIODS);
    for (int i = 0; i < PERIODS; i++) {
      long period = last - PERIODS + 1 + i;
      long word = slot + BUSY + Long.BYTES * Math.floorMod(period, (long) PERIODS);
      long busy = busy(Memory.getLongVolatile(word), period);
      long more = running == 0 ? 0 : within(running, now, period);
      result.add(Math.min(PERIOD_NANOS, busy + more));
    }
    return result;
  }

  /** Returns the time that a word holds for a period; 0 if it holds that of an earlier one. */
  private static long busy(long word, long period) {
    return (word >> BUSY_BITS) == period ? Math.min(word & BUSY_MASK, PERIOD_NANOS) : 0;
  }

  /** Returns for how long a time lies within a period. */
  private static long within(long from, long to, long period) {
    long begin = period * PERIOD_NANOS;
    return Math.max(0, Math.min(to, begin + PERIOD_NANOS) - Math.max(from, begin));
  }
}
