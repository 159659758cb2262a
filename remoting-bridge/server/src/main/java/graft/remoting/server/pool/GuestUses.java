package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The files in which the workers of each guest count what the guest's sessions use together, {@link
 * GuestUse}. The files are sealed against changes of their size, so that no worker can make the
 * memory of another one disappear. Thread-safe.
 */
public final class GuestUses implements AutoCloseable {
  private final int slots;

  @GuardedBy("this")
  private final Map<String, Use> guests = new HashMap<>();

  private static final class Use {
    private final int fd;
    private final long mapped;
    private final BitSet taken = new BitSet();

    private Use(int fd, long mapped) {
      this.fd = fd;
      this.mapped = mapped;
    }
  }

  /**
   * The slot of a session in its guest's file.
   *
   * @param fd the file, which belongs to this object
   */
  public record Slot(String guest, int fd, int number) {}

  /**
   * Creates the files of a server.
   *
   * @param sessions the largest number of sessions at one time
   */
  public GuestUses(int sessions) {
    this.slots = sessions;
  }

  /** Returns the number of slots in each file. */
  public int slots() {
    return slots;
  }

  /** Takes a slot for a session of a guest. */
  public synchronized Slot take(String guest) throws IOException {
    Use use = guests.get(guest);
    if (use == null) {
      use = create();
      guests.put(guest, use);
    }
    int number = use.taken.nextClearBit(0);
    if (number >= slots) {
      throw new IOException("no slot is free to count what a session of " + guest + " uses");
    }
    use.taken.set(number);
    return new Slot(guest, use.fd, number);
  }

  private Use create() throws IOException {
    int fd = Libc.memfd_create("graft-use", Libc.MFD_CLOEXEC | Libc.MFD_ALLOW_SEALING);
    if (fd < 0) {
      throw Libc.failure("create the file that counts what a guest uses");
    }
    long bytes = bytes();
    long mapped = -1;
    if (Libc.ftruncate(fd, bytes) == 0
        && Libc.fcntl(fd, Libc.F_ADD_SEALS, Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW) == 0) {
      mapped = Libc.mmap(0, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, 0);
    }
    if (mapped == -1) {
      IOException failure = Libc.failure("map the file that counts what a guest uses");
      Descriptors.discard(fd);
      throw failure;
    }
    return new Use(fd, mapped);
  }

  private long bytes() {
    return (long) GuestUse.SLOT * slots;
  }

  /** Clears the slot of a session that has ended. */
  public synchronized void release(Slot slot) {
    Use use = guests.get(slot.guest());
    if (use == null || !use.taken.get(slot.number())) {
      return;
    }
    Memory.fill(use.mapped + (long) GuestUse.SLOT * slot.number(), GuestUse.SLOT, (byte) 0);
    use.taken.clear(slot.number());
    if (use.taken.isEmpty()) {
      guests.remove(slot.guest());
      drop(use);
    }
  }

  private void drop(Use use) {
    Libc.munmap(use.mapped, bytes());
    Descriptors.discard(use.fd);
  }

  /** Closes all files. */
  @Override
  public synchronized void close() {
    guests.values().forEach(this::drop);
    guests.clear();
  }
}
