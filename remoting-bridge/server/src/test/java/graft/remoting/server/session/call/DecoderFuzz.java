package graft.remoting.server.session.call;

import graft.remoting.server.MemoryChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/**
 * The entry point for Jazzer (CONTRIBUTING.md): a session that receives the records which an input
 * encodes. {@link DecoderFuzzTest} tries random records; Jazzer searches for records by the code
 * that they reach.
 */
public final class DecoderFuzz {
  private static final int SEEDS = 1_000;
  private static final int RECORDS = 20;
  private static final int MOST_WORDS = 63;
  private static final GuardedRecord MEMORY = new GuardedRecord(4096);

  private DecoderFuzz() {}

  /**
   * Each record is encoded as its function (two bytes), its flags and its number of words (one byte
   * each), and the words.
   */
  public static void fuzzerTestOneInput(byte[] input) {
    Random random =
        new Random(Arrays.hashCode(input)); // so that an input has the same effect each time
    BorderDevice device = BorderDevice.of(random);
    try (MemoryChannel channel = new MemoryChannel(random)) {
      Session session =
          new Session(
              device.device(),
              channel,
              SessionTerms.of(SessionLimits.NONE.withMemory(1 << 30).withHostMemory(1 << 30), 0),
              1,
              false,
              GpuDirect.none());
      ByteBuffer left = ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN);
      while (left.remaining() >= 4) {
        short function = left.getShort();
        byte flags = left.get();
        byte[] words = new byte[Math.min(8 * (left.get() & 63), left.remaining() & -8)];
        left.get(words);
        ByteBuffer record = ByteBuffer.allocate(16 + words.length).order(ByteOrder.LITTLE_ENDIAN);
        record.putInt(record.capacity()).putShort(function).putShort(flags).putLong(0).put(words);
        session.execute(MEMORY.put(record.array()));
        if (!device.outside().isEmpty()) {
          throw new AssertionError("outside of the session's memory: " + device.outside());
        }
      }
    } catch (IOException | UncheckedIOException | ProtocolException e) {
      // The record ended the session, which is allowed for a hostile client: no data connections
      // were opened here.
    }
  }

  /**
   * Writes inputs to begin with: records that have the form of the API's description.
   *
   * @param arguments the folder
   */
  public static void main(String[] arguments) throws IOException {
    Path folder = Files.createDirectories(Path.of(arguments[0]));
    DescribedRecords records = new DescribedRecords(new Random(1));
    for (int seed = 0; seed < SEEDS; seed++) {
      ByteArrayOutputStream input = new ByteArrayOutputStream();
      for (int i = 0; i < RECORDS; i++) {
        byte[] record = records.next();
        int words = (record.length - 16) / 8;
        if (words <= MOST_WORDS) {
          input.write(record, 4, 3); // the function, and the lower byte of its flags
          input.write(words);
          input.write(record, 16, 8 * words);
        }
      }
      Files.write(folder.resolve("described-" + seed), input.toByteArray());
    }
  }
}
