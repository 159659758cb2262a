package graft.remoting.server.exchange;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * What all sessions of a guest use together: memory, against the guest's limits, and the GPU's time
 * ({@link GuestActivity}). The workers of the guest's sessions share a file in which each has a
 * slot with its own use: the sum of the slots is the use of the guest. The server clears the slot
 * of a session that has ended. A compromised worker can write to all slots, but these belong to the
 * sessions of its own guest. Thread-safe.
 */
public final class GuestUse {
  /** What is counted; each has 8 bytes of a slot. */
  public enum Resource {
    DEVICE_MEMORY(0),
    HOST_MEMORY(1);

    /** The number of the 8 bytes in a slot. */
    private final int index;

    Resource(int index) {
      this.index = index;
    }
  }

  /** Where a slot's part for {@link GuestActivity} is. */
  private static final int ACTIVITY = Long.BYTES * Resource.values().length;

  /** The bytes of a slot. */
  public static final int SLOT = ACTIVITY + GuestActivity.BYTES;

  private final long slots;
  private final int count;
  private final int own;
  private final long[] limits;
  private final GuestActivity activity;

  @GuardedBy("this")
  private final long[] used = new long[Resource.values().length];

  private GuestUse(long slots, int count, int own, long[] limits, LongSupplier nanos) {
    this.slots = slots;
    this.count = count;
    this.own = own;
    this.limits = limits;
    this.activity =
        slots == 0
            ? GuestActivity.none()
            : new GuestActivity(slots + ACTIVITY, SLOT, count, own, nanos);
  }

  /** Returns the use of a guest without limits. */
  public static GuestUse unlimited() {
    return new GuestUse(0, 0, 0, new long[Resource.values().length], System::nanoTime);
  }

  /**
   * Maps the file that the guest's workers share.
   *
   * @param count the number of slots in the file
   * @param own the slot of this session
   */
  public static GuestUse map(int fd, int count, int own, SessionLimits limits) throws IOException {
    return map(fd, count, own, limits, System::nanoTime);
  }

  /**
   * Maps the file that the guest's workers share.
   *
   * @param nanos the clock of the session's {@link GpuLease}, for tests
   */
  public static GuestUse map(int fd, int count, int own, SessionLimits limits, LongSupplier nanos)
      throws IOException {
    long bytes = (long) SLOT * count;
    long slots = Libc.mmap(0, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, 0);
    if (slots == -1) {
      throw Libc.failure("map the memory that counts the guest's use");
    }
    long[] most = {limits.guestMemory(), limits.guestHostMemory()};
    return new GuestUse(slots, count, own, most, nanos);
  }

  /**
   * Counts {@code bytes}. The count is entered before the sum is compared with the limit, so that
   * two sessions cannot exceed it together.
   *
   * @return false, and nothing is counted, if the guest's limit does not allow it
   */
  public synchronized boolean take(Resource resource, long bytes) {
    if (slots == 0) {
      return true;
    }
    if (bytes < 0) {
      return false;
    }
    enter(resource, bytes);
    long limit = limits[resource.index];
    if (limit != 0 && sum(resource) > limit) {
      enter(resource, -bytes);
      return false;
    }
    return true;
  }

  /** Counts {@code bytes} that are in use already, whatever the limit. */
  public synchronized void add(Resource resource, long bytes) {
    if (slots != 0) {
      enter(resource, bytes);
    }
  }

  @GuardedBy("this")
  private void enter(Resource resource, long bytes) {
    int index = resource.index;
    used[index] += bytes;
    Memory.putLongVolatile(address(own, index), used[index]);
  }

  private long sum(Resource resource) {
    long sum = 0;
    for (int slot = 0; slot < count; slot++) {
      long value = Memory.getLongVolatile(address(slot, resource.index));
      if (value < 0 || sum + value < 0) {
        return Long.MAX_VALUE; // only a compromised worker of the guest writes such a value
      }
      sum += value;
    }
    return sum;
  }

  /** Returns what a session of the guest uses, by the number of its slot; never less than 0. */
  public long used(Resource resource, int slot) {
    return Math.max(0, Memory.getLongVolatile(address(slot, resource.index)));
  }

  /** Returns for how long the guest's sessions have lately had work on the GPU. */
  public GuestActivity activity() {
    return activity;
  }

  private long address(int slot, int index) {
    return slots + (long) SLOT * slot + (long) Long.BYTES * index;
  }
}
