package graft.remoting.server.session.call;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.StreamChannel;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hostile records: whatever they contain, the session answers, refuses the call, or ends with a
 * protocol error. Records lie directly before inaccessible memory, so that reading beyond one kills
 * this process and fails the test.
 */
@Timeout(300)
@Isolated("it watches the memory of this process")
class DecoderFuzzTest {
  private static final int RECORDS = 100_000;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void anyRecordIsAnsweredRefusedOrEndsTheSession(long seed) throws IOException {
    try (GuardedRecord memory = new GuardedRecord(4096)) {
      RandomRecords records = new RandomRecords(new Random(seed), memory);
      for (int i = 0; i < RECORDS; i++) {
        records.next();
      }
      assertThat(records.executed()).isGreaterThan(RECORDS / 50);
      assertThat(records.ended()).isGreaterThan(RECORDS / 50);
    }
  }

  @Test
  void anyStreamOfBytesEndsOrIsWaitedFor() throws Exception {
    for (int seed = 0; seed < 2000; seed++) {
      Random random = new Random(seed);
      byte[] bytes = new byte[random.nextInt(5000)];
      random.nextBytes(bytes);
      for (int at = 0; at + 16 <= bytes.length; at += 16 * (1 + random.nextInt(4))) {
        // Plausible sizes, so that the decoder gets further.
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(at, 8 * random.nextInt(20));
      }
      StreamChannel channel = new StreamChannel(new BytesTransport(bytes, random), 0);
      int records = 0;
      try {
        while (channel.nextRecord() != 0) {
          records++;
          if (random.nextInt(3) == 0) {
            channel.skipBulk(random.nextInt(200));
          }
        }
        assertThat(channel.bytesIn()).isEqualTo(bytes.length);
      } catch (ProtocolException e) {
        assertThat(records).isLessThanOrEqualTo(bytes.length / 16);
      } finally {
        channel.close();
      }
    }
  }

  /** Returns the bytes in chunks of random sizes. */
  private static final class BytesTransport implements Transport {
    private final byte[] bytes;
    private final Random random;
    private int done;

    BytesTransport(byte[] bytes, Random random) {
      this.bytes = bytes;
      this.random = random;
    }

    @Override
    public long tryReceive(long address, long length) {
      return random.nextBoolean() && done < bytes.length ? NOTHING : receive(address, length);
    }

    @Override
    public long receive(long address, long length) {
      int count = (int) Math.min(Math.min(length, bytes.length - done), 1 + random.nextInt(500));
      Memory.write(address, bytes, done, count);
      done += count;
      return count;
    }

    @Override
    public void sendAll(long address, long length, boolean more) {
      throw new AssertionError("nothing is sent");
    }

    @Override
    public void close() {
      // Nothing to close.
    }
  }
}
