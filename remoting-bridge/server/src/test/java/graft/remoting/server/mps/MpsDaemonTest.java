package graft.remoting.server.mps;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MpsDaemonTest {
  /** Workers can write into the daemon's log: nothing waits for the end of a line, or keeps it. */
  @Test
  void aLineWithoutEndIsReadInPieces() throws Exception {
    BlockingQueue<String> ended = new LinkedBlockingQueue<>();
    try (PipedInputStream log = new PipedInputStream(1 << 16);
        PipedOutputStream out = new PipedOutputStream(log)) {
      MpsDaemon daemon = MpsDaemon.follow(log, () -> {}, ended::add);
      out.write("x".repeat(2_000).getBytes(StandardCharsets.US_ASCII));
      out.write(
          ("Starting control daemon\u001b[2J" + "y".repeat(2_000))
              .getBytes(StandardCharsets.US_ASCII));
      out.flush();
      assertThat(daemon.awaitStart()).isTrue();
    }
    assertThat(ended.poll(20, TimeUnit.SECONDS)).contains("daemon?[2J").doesNotContain("\u001b");
  }
}
