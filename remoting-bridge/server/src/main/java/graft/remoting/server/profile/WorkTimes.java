package graft.remoting.server.profile;

import graft.remoting.device.Memory;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Writes the times of a session's work for its client (remoting-bridge/api/README.md). */
public final class WorkTimes {
  private static final int ENTRY = 96;

  /** The longest name in bytes; longer ones are cut, where a character may be cut too. */
  private static final int MOST_NAME = CuptiRecords.LONGEST_NAME;

  /** So many names are remembered as sent. Others are sent again. */
  private static final int MOST_NAMES = 1 << 14;

  private final Consumer<Numbers.Receiver> source;
  private final LongSupplier lost;
  private final Map<String, Integer> names = new HashMap<>();

  public WorkTimes(Cupti cupti) {
    this(cupti::read, cupti::takeLost);
  }

  /**
   * Writes the times of another source.
   *
   * @param source gives its work to a receiver, for as long as that takes it
   * @param lost returns how many records were lost since it was asked last
   */
  WorkTimes(Consumer<Numbers.Receiver> source, LongSupplier lost) {
    this.source = source;
    this.lost = lost;
  }

  /** Returns how many records were lost since the last call. */
  public long takeLost() {
    return lost.getAsLong();
  }

  /** Writes entries for as long as there is room for the next. Returns how many. */
  public int write(long data, int capacity) {
    Writer writer = new Writer(data, capacity);
    source.accept(writer);
    return writer.count;
  }

  private final class Writer implements Numbers.Receiver {
    private final long end;
    private long at;
    private int count;

    Writer(long data, int capacity) {
      at = data;
      end = data + capacity;
    }

    @Override
    public boolean takes(Numbers.Numbered numbered) {
      WorkRecord work = numbered.work();
      boolean isNew = !work.name().isEmpty() && !names.containsKey(work.name());
      byte[] name = isNew ? work.name().getBytes(StandardCharsets.UTF_8) : new byte[0];
      int length = Math.min(name.length, MOST_NAME);
      int bytes = ENTRY + (length + 7) / 8 * 8;
      if (bytes > end - at) {
        return false;
      }
      Memory.fill(at, bytes, (byte) 0);
      Memory.putInt(at, bytes);
      Memory.putInt(at + 4, numbered.number());
      Memory.putLong(at + 8, work.start());
      Memory.putLong(at + 16, work.end());
      Memory.putLong(at + 24, work.bytes());
      Memory.putInt(at + 32, work.kind().number());
      Memory.putInt(at + 36, work.name().isEmpty() ? 0 : identity(work.name()));
      put(at + 40, work.grid());
      put(at + 52, work.block());
      put(at + 64, work.memory());
      Memory.putInt(at + 76, work.registers());
      Memory.putInt(at + 80, work.value());
      Memory.putByte(at + 84, work.from());
      Memory.putByte(at + 85, work.to());
      Memory.putInt(at + 88, length);
      Memory.write(at + ENTRY, name, 0, length);
      at += bytes;
      count++;
      return true;
    }

    private int identity(String name) {
      if (!names.containsKey(name) && names.size() >= MOST_NAMES) {
        names.clear();
      }
      return names.computeIfAbsent(name, key -> names.size() + 1);
    }

    private static void put(long address, List<Integer> numbers) {
      for (int i = 0; i < numbers.size(); i++) {
        Memory.putInt(address + 4L * i, numbers.get(i));
      }
    }
  }
}
