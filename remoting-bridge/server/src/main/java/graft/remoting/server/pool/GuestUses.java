package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.system.SealedMemory;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The files in which the workers of each guest count what the guest's sessions use together, {@link
 * GuestUse}. Thread-safe.
 */
public final class GuestUses implements AutoCloseable {
  private final int slots;

  @GuardedBy("this")
  private final Map<String, Use> guests = new HashMap<>();

  private static final class Use {
    private final SealedMemory memory;
    private final BitSet taken = new BitSet();

    private Use(SealedMemory memory) {
      this.memory = memory;
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
      use = new Use(SealedMemory.create("graft-use", (long) GuestUse.SLOT * slots));
      guests.put(guest, use);
    }
    int number = use.taken.nextClearBit(0);
    if (number >= slots) {
      throw new IOException("no slot is free to count what a session of " + guest + " uses");
    }
    use.taken.set(number);
    return new Slot(guest, use.memory.fd(), number);
  }

  /** Clears the slot of a session that has ended. */
  public synchronized void release(Slot slot) {
    Use use = guests.get(slot.guest());
    if (use == null || !use.taken.get(slot.number())) {
      return;
    }
    long at = use.memory.address() + (long) GuestUse.SLOT * slot.number();
    Memory.fill(at, GuestUse.SLOT, (byte) 0);
    use.taken.clear(slot.number());
    if (use.taken.isEmpty()) {
      guests.remove(slot.guest());
      use.memory.close();
    }
  }

  /** Closes all files. */
  @Override
  public synchronized void close() {
    guests.values().forEach(use -> use.memory.close());
    guests.clear();
  }
}
