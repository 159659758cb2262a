package graft.remoting.server.session.call;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.StreamChannel;
import graft.remoting.server.transport.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ClientReleaseTest {
  private static final long HASH = 0x89076130802b3829L;

  private final ClientRelease release = ClientRelease.of(HASH).orElseThrow();

  @Test
  void theirFunctionsAreOurs() throws IOException {
    List<String> theirs = functions();
    for (int id = 0; id < theirs.size(); id++) {
      assertThat(Dispatcher.name(release.functions().applyAsInt(id)))
          .isEqualTo(theirs.get(id).replaceAll("^\\w+ (\\w+)\\(.*", "$1"));
    }
  }

  @Test
  void otherDescriptionsAreNotServed() {
    assertThat(ClientRelease.isServed(Dispatcher.API_HASH)).isTrue();
    assertThat(ClientRelease.isServed(HASH)).isTrue();
    assertThat(ClientRelease.isServed(0)).isFalse();
    assertThat(ClientRelease.isServed(HASH + 1)).isFalse();
  }

  /** A hostile client may send any number. */
  @Test
  void everyNumberIsAFunctionOrNone() throws IOException {
    int known = functions().size();
    assertThat(known).isLessThan(Dispatcher.FUNCTIONS);
    try (StreamChannel channel = new StreamChannel(new Records(), 0)) {
      channel.number(release.functions());
      for (int number = 0; number <= 0xFFFF; number++) {
        long record = channel.nextRecord();
        int function = Memory.getShort(record + Channel.FUNCTION) & 0xFFFF;
        if (number < known) {
          assertThat(function).isLessThan(Dispatcher.FUNCTIONS);
        } else {
          assertThat(function).isEqualTo(ClientRelease.NO_FUNCTION);
        }
      }
    }
  }

  private static List<String> functions() throws IOException {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                ClientReleaseTest.class.getResourceAsStream("/graft/remoting/api/releases/0.1.0"),
                StandardCharsets.UTF_8))) {
      return in.lines().filter(line -> !line.startsWith("#")).toList();
    }
  }

  /** A record for each number. */
  private static final class Records implements Transport {
    private final ByteBuffer bytes =
        ByteBuffer.allocate(Channel.RECORD_HEADER * 0x10000).order(ByteOrder.LITTLE_ENDIAN);

    Records() {
      for (int number = 0; number <= 0xFFFF; number++) {
        bytes.putInt(Channel.RECORD_HEADER).putShort((short) number).putShort((short) 0).putLong(0);
      }
      bytes.flip();
    }

    @Override
    public long tryReceive(long address, long length) {
      return receive(address, length);
    }

    @Override
    public long receive(long address, long length) {
      int count = (int) Math.min(length, bytes.remaining());
      Memory.write(address, bytes.array(), bytes.position(), count);
      bytes.position(bytes.position() + count);
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
