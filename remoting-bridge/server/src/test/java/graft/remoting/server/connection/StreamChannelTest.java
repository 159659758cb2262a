package graft.remoting.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** How a channel waits for the next record. */
final class StreamChannelTest {
  private static final long SECONDS = 10_000_000_000L;
  private static final int RECORD = 24;

  /** A client that sends one record once the channel has been idle, or has gone to sleep. */
  private static final class LateClient implements Transport {
    private int idle;
    private int sleeps;
    private boolean sendsToPolls = true;
    private boolean ended;

    @Override
    public long tryReceive(long address, long length) {
      return idle > 0 && sendsToPolls ? send(address) : NOTHING;
    }

    @Override
    public long receive(long address, long length) {
      sleeps++;
      return send(address);
    }

    private long send(long address) {
      if (ended) {
        return END;
      }
      ended = true;
      Memory.putInt(address, RECORD);
      return RECORD;
    }

    @Override
    public void sendAll(long address, long length, boolean more) {}

    @Override
    public void close() {}
  }

  private static LateClient readOne(LateClient client, long lingerNanos) throws IOException {
    try (StreamChannel channel = new StreamChannel(client, 1, lingerNanos)) {
      channel.whenIdle(() -> client.idle++);
      assertThat(channel.nextRecord()).isNotZero();
    }
    return client;
  }

  @Test
  void itPollsOnAfterTheSessionWasTold() throws IOException {
    LateClient client = readOne(new LateClient(), SECONDS);
    assertThat(client.idle).as("how often the session was told").isEqualTo(1);
    assertThat(client.sleeps).as("sleeps").isZero();
  }

  @Test
  void itSleepsWhenItHasPolledLongEnough() throws IOException {
    LateClient client = new LateClient();
    client.sendsToPolls = false;
    readOne(client, 1);
    assertThat(client.idle).isEqualTo(1);
    assertThat(client.sleeps).isEqualTo(1);
  }
}
