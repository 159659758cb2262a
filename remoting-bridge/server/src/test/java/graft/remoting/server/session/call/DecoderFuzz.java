package graft.remoting.server.session.call;

import graft.remoting.server.MemoryChannel;
import graft.remoting.server.RandomDevice;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;

/**
 * The entry point for Jazzer (CONTRIBUTING.md): a session that receives the records which an input
 * encodes. {@link DecoderFuzzTest} tries random records; Jazzer searches for records by the code
 * that they reach.
 */
public final class DecoderFuzz {
  private static final GuardedRecord MEMORY = new GuardedRecord(4096);

  private DecoderFuzz() {}

  /**
   * Each record is encoded as its function (two bytes), its flags and its number of words (one byte
   * each), and the words.
   */
  public static void fuzzerTestOneInput(byte[] input) {
    Random random =
        new Random(Arrays.hashCode(input)); // so that an input has the same effect each time
    try (MemoryChannel channel = new MemoryChannel(random)) {
      Session session =
          new Session(
              RandomDevice.of(random),
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
      }
    } catch (IOException | UncheckedIOException e) {
      // The record ended the session, which is allowed for a hostile client: no data connections
      // were opened here.
    }
  }
}
