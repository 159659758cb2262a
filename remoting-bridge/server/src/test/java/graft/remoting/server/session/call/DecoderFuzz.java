package graft.remoting.server.session.call;

import graft.remoting.server.MemoryChannel;
import graft.remoting.server.RandomDevice;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.CodeExchange;
import graft.remoting.server.exchange.HandleExchange;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;

/**
 * What Jazzer looks through (CONTRIBUTING.md): a session that gets the records that an input stands
 * for. What {@link DecoderFuzzTest} asks of random records holds for those that Jazzer finds by
 * what they reach.
 */
public final class DecoderFuzz {
  private static final GuardedRecord MEMORY = new GuardedRecord(4096);

  private DecoderFuzz() {}

  /**
   * Each record is its function, flags and number of words, two bytes, one and one, then the words.
   */
  public static void fuzzerTestOneInput(byte[] input) {
    Random random = new Random(Arrays.hashCode(input)); // so that an input does the same each time
    try (MemoryChannel channel = new MemoryChannel(random)) {
      Session session =
          new Session(
              RandomDevice.of(random),
              channel,
              new SessionTerms("", 1 << 30, 0, HandleExchange.NONE, CodeExchange.NONE),
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
      // The end of that session, which a hostile client may have: connections were never opened
      // here.
    }
  }
}
