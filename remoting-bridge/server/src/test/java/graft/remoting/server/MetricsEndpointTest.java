package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Metrics on a Unix socket. */
@Timeout(120)
final class MetricsEndpointTest {
  @TempDir Path folder;

  /** Returns what the endpoint answers to this process; empty if it answers nothing. */
  private String ask(LongPredicate isWorker) throws Exception {
    Path path = folder.resolve("metrics.sock");
    try (MetricsEndpoint endpoint =
            new MetricsEndpoint(new ListenAddress.Unix(path), () -> "graft_up 1\n", isWorker);
        SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      assertThat(endpoint.address()).hasToString("unix://" + path);
      socket.connect(UnixDomainSocketAddress.of(path));
      socket.write(
          ByteBuffer.wrap("GET /metrics HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
      ByteBuffer answer = ByteBuffer.allocate(4096);
      while (socket.read(answer) > 0) {
        // until the end
      }
      return new String(answer.array(), 0, answer.position(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      return ""; // the connection was reset
    }
  }

  @Test
  void anyProcessThatReachesTheSocketIsAnswered() throws Exception {
    assertThat(ask(process -> false))
        .startsWith("HTTP/1.0 200 OK")
        .endsWith("\r\n\r\ngraft_up 1\n");
  }

  @Test
  void aWorkerIsNotAnswered() throws Exception {
    assertThat(ask(process -> process == ProcessHandle.current().pid())).isEmpty();
  }
}
