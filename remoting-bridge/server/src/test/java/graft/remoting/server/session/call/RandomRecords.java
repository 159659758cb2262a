package graft.remoting.server.session.call;

import graft.remoting.server.MemoryChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Records of random functions, and sessions that receive them: records of random and nasty words,
 * records that have the form of the API's description, and changed copies of records that were no
 * protocol errors. What is changed are words, lengths, ids, flags, the function, and the end of the
 * record.
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

  /** The bytes of the longest record. */
  private static final int MOST = 4096;

  /**
   * How much a process may grow after the first quarter of its records: sessions whose process goes
   * on leave their threads and pinned memory, which end with a worker.
   */
  private static final long MOST_GROWTH = 256L << 20;

  /** The protocol errors after which there is a new session. */
  private static final int MOST_ERRORS = 1000;

  /** The number of well-formed records of each function that are kept for changing. */
  private static final int KEPT = 16;

  private final Random random;
  private final GuardedRecord memory;
  private final DescribedRecords described;
  private final Map<Short, List<byte[]>> wellFormed = new HashMap<>();
  private Session session;
  private MemoryChannel channel;
  private BorderDevice device;
  private byte[] record = {};
  private int errors;
  private long executed;
  private long ended;
  private long checked;

  /**
   * Sessions on a device that answers at random.
   *
   * @param memory the memory for the records
   */
  RandomRecords(Random random, GuardedRecord memory) {
    this.random = random;
    this.memory = memory;
    this.described = new DescribedRecords(random);
  }

  /** Returns how many records were executed or refused. */
  long executed() {
    return executed;
  }

  /** Returns how many records were protocol errors. */
  long ended() {
    return ended;
  }

  /** Returns how many addresses reached the devices of earlier sessions, all within borders. */
  long checked() {
    return checked;
  }

  /** Returns the record that was executed last. */
  byte[] last() {
    return record;
  }

  /** Has a session execute one record; a number of protocol errors end the session. */
  void next() throws IOException {
    if (session == null) {
      // Threads of the session ask the device, too, and must not change the records that follow.
      channel = new MemoryChannel(new Random(random.nextLong()));
      device = BorderDevice.of(new Random(random.nextLong()));
      session =
          new Session(
              device.device(),
              channel,
              SessionTerms.of(SessionLimits.NONE.withMemory(1 << 30).withHostMemory(1 << 30), 0),
              1,
              false,
              GpuDirect.none());
    }
    record = choose();
    try {
      session.execute(memory.put(record));
      executed++;
      keep(record);
    } catch (ProtocolException e) {
      if (e.getMessage() == null || e.getMessage().contains("null")) {
        throw new AssertionError("a protocol error without a reason", e);
      }
      ended++;
      errors++;
    }
    if (!device.outside().isEmpty()) {
      throw new AssertionError("outside of the session's memory: " + device.outside());
    }
    if (errors == MOST_ERRORS) {
      errors = 0;
      checked += device.checked();
      channel.close();
      session = null;
    }
  }

  private byte[] choose() {
    int kind = random.nextInt(8);
    List<byte[]> known = wellFormed.get((short) random.nextInt(Dispatcher.FUNCTIONS));
    if (kind == 0) {
      return record(random);
    }
    if (kind < 3 || known == null) {
      return described.next();
    }
    return changed(known.get(random.nextInt(known.size())).clone());
  }

  private byte[] changed(byte[] known) {
    ByteBuffer words = ByteBuffer.wrap(known).order(ByteOrder.LITTLE_ENDIAN);
    int count = known.length / 8 - 2;
    for (int changes = random.nextInt(4); changes > 0 && count > 0; changes--) {
      int at = 16 + 8 * random.nextInt(count);
      switch (random.nextInt(8)) {
        case 0 -> words.putLong(at, words.getLong(at) + random.nextInt(17) - 8); // lengths
        case 1 -> words.putLong(at, random.nextInt(12)); // ids
        case 2 ->
            words.putInt(at + 4 * random.nextInt(2), random.nextInt(40)); // parts of structures
        case 3 -> words.putLong(at, words.getLong(16 + 8 * random.nextInt(count)));
        default -> words.putLong(at, word(random, count));
      }
    }
    switch (random.nextInt(40)) {
      case 0 -> words.putShort(4, (short) random.nextInt(Dispatcher.FUNCTIONS));
      case 1 -> words.putShort(6, (short) random.nextInt(8));
      case 2 -> {
        int length = Math.min(MOST, Math.max(16, known.length + 8 * (random.nextInt(7) - 3)));
        return ByteBuffer.wrap(Arrays.copyOf(known, length))
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(0, length)
            .array();
      }
      default -> {}
    }
    return known;
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
   * Feeds sessions with the records of one seed, and prints how many and at what rate. Whatever is
   * no protocol error ends the process with 1 and prints the record; a process that grows beyond
   * {@link #MOST_GROWTH} ends with 1, too.
   *
   * @param arguments the seed, and the number of records
   */
  public static void main(String[] arguments) throws IOException {
    long seed = Long.parseLong(arguments[0]);
    long wanted = Long.parseLong(arguments[1]);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, e) -> {
          System.out.printf("seed %d: %s in the thread %s%n", seed, e, thread.getName());
          e.printStackTrace();
          Runtime.getRuntime().halt(1);
        });
    long began = System.nanoTime();
    long grown = 0;
    try (GuardedRecord memory = new GuardedRecord(MOST)) {
      RandomRecords records = new RandomRecords(new Random(seed), memory);
      for (long count = 0; count < wanted; count++) {
        try {
          records.next();
        } catch (Throwable e) {
          System.out.printf(
              "seed %d: record %d: %s%n  %s%n",
              seed, count, e, HexFormat.of().formatHex(records.last()));
          e.printStackTrace();
          Runtime.getRuntime().halt(1);
        }
        if (count == wanted / 4) {
          grown = resident();
        }
      }
      long seconds = Math.max(1, (System.nanoTime() - began) / 1_000_000_000L);
      long growth = resident() - grown;
      System.out.printf(
          "seed %d: %d records, %d protocol errors, %d addresses, %d records/s, %d MiB more%n",
          seed, wanted, records.ended(), records.checked(), wanted / seconds, growth >> 20);
      // Threads that wait for calls of earlier sessions are still there.
      Runtime.getRuntime().halt(growth > MOST_GROWTH ? 1 : 0);
    }
  }

  /** Returns the bytes of this process that are resident. */
  private static long resident() throws IOException {
    String pages = Files.readString(Path.of("/proc/self/statm")).split(" ", -1)[1];
    return Long.parseLong(pages) * 4096;
  }
}
