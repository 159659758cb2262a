package graft.remoting.server.session.call;

import graft.remoting.server.MemoryChannel;
import graft.remoting.server.RandomDevice;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Records of random functions with random and nasty parameters, and sessions that receive them.
 * Three records of four are changed copies of records that were no protocol errors, because few
 * random words have the form that a function wants.
 */
final class RandomRecords {
  private static final long[] NASTY = {
    0,
    1,
    2,
    7,
    8,
    9,
    16,
    64,
    255,
    4096,
    1 << 20,
    Integer.MAX_VALUE,
    0x80000000L,
    0x80000001L,
    0xFFFFFFFFL,
    1L << 32,
    1L << 61,
    (1L << 61) + 1,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -1,
    -8
  };

  static byte[] record(Random random) {
    int words = random.nextInt(random.nextInt(10) == 0 ? 60 : 16);
    ByteBuffer record = ByteBuffer.wrap(new byte[16 + 8 * words]).order(ByteOrder.LITTLE_ENDIAN);
    record.putInt(16 + 8 * words);
    record.putShort(
        (short)
            (random.nextInt(100) == 0 ? random.nextInt() : random.nextInt(Dispatcher.FUNCTIONS)));
    record.putShort((short) (random.nextInt(20) == 0 ? random.nextInt(4) : random.nextInt(2)));
    record.putInt(random.nextInt());
    record.putInt(random.nextInt(4) == 0 ? random.nextInt(3) : 0);
    for (int i = 0; i < words; i++) {
      record.putLong(word(random, words - i));
    }
    return record.array();
  }

  private static long word(Random random, int left) {
    return switch (random.nextInt(4)) {
      case 0 -> NASTY[random.nextInt(NASTY.length)];
      case 1 -> random.nextLong();
      case 2 -> 8L * random.nextInt(left + 1);
      default -> random.nextInt(12);
    };
  }

  /** The number of well-formed records of each function that are kept for changing. */
  private static final int KEPT = 16;

  private final Random random;
  private final GuardedRecord memory;
  private final Map<Short, List<byte[]>> wellFormed = new HashMap<>();
  private Session session;
  private MemoryChannel channel;
  private long executed;
  private long ended;

  /**
   * Sessions on a device that answers at random.
   *
   * @param memory the memory for the records
   */
  RandomRecords(Random random, GuardedRecord memory) {
    this.random = random;
    this.memory = memory;
  }

  /** Returns how many records were executed or refused. */
  long executed() {
    return executed;
  }

  /** Returns how many records were protocol errors. */
  long ended() {
    return ended;
  }

  /** Has a session execute one record; a hundred protocol errors end the session. */
  void next() throws IOException {
    if (session == null) {
      channel = new MemoryChannel(random);
      session =
          new Session(
              RandomDevice.of(random),
              channel,
              SessionTerms.of(SessionLimits.NONE.withMemory(1 << 30).withHostMemory(1 << 30), 0),
              1,
              false,
              GpuDirect.none());
    }
    byte[] record = choose();
    try {
      session.execute(memory.put(record));
      executed++;
      keep(record);
    } catch (ProtocolException e) {
      if (e.getMessage() == null || e.getMessage().contains("null")) {
        throw new AssertionError("a protocol error without a reason", e);
      }
      ended++;
      if (ended % 100 == 0) {
        channel.close();
        session = null;
      }
    }
  }

  private byte[] choose() {
    List<byte[]> known = wellFormed.get((short) random.nextInt(Dispatcher.FUNCTIONS));
    if (known == null || random.nextInt(4) == 0) {
      return record(random);
    }
    byte[] record = known.get(random.nextInt(known.size())).clone();
    ByteBuffer words = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
    int count = record.length / 8 - 2;
    for (int changes = random.nextInt(4); changes > 0 && count > 0; changes--) {
      words.putLong(16 + 8 * random.nextInt(count), word(random, count));
    }
    return record;
  }

  private void keep(byte[] record) {
    short function = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN).getShort(4);
    List<byte[]> known = wellFormed.computeIfAbsent(function, key -> new ArrayList<>());
    if (known.size() < KEPT) {
      known.add(record);
    } else {
      known.set(random.nextInt(KEPT), record);
    }
  }

  /**
   * Feeds sessions with random records and prints the number of records of each seed. An exception
   * other than a protocol error, or a crash, ends the run; the last line names the seed.
   *
   * @param arguments the number of seconds, the first seed, and the number of records for each seed
   */
  public static void main(String[] arguments) throws IOException {
    long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
    long seed = Long.parseLong(arguments[1]);
    long each = Long.parseLong(arguments[2]);
    long total = 0;
    long began = System.nanoTime();
    try (GuardedRecord memory = new GuardedRecord(4096)) {
      for (; System.nanoTime() < end; seed++) {
        System.out.print("seed " + seed + ": ");
        System.out.flush();
        RandomRecords records = new RandomRecords(new Random(seed), memory);
        long count = 0;
        for (; count < each && System.nanoTime() < end; count++) {
          records.next();
        }
        total += count;
        System.out.printf(
            "%d records, %d protocol errors; %d in all after %d s%n",
            count, records.ended(), total, (System.nanoTime() - began) / 1_000_000_000L);
      }
    }
  }
}
