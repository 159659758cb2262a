package graft.deployment.step.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log of a server in a file, which the server renames and begins anew. */
@Timeout(120)
class ServerLogTest {
  @TempDir Path folder;

  private Path log(String text) throws IOException {
    return Files.writeString(folder.resolve("server.log"), text);
  }

  @Test
  void theLastOfTheChosenLinesAreGiven() throws Exception {
    ServerLog log =
        ServerLog.file(log("alice 1\nbob 1\nalice 2\nalice 3\nnot yet a line of alice"));
    assertThat(log.last(2, line -> line.startsWith("alice"))).containsExactly("alice 2", "alice 3");
    assertThat(log.last(10, line -> true)).hasSize(4);
    assertThat(log.where()).endsWith("server.log");
  }

  @Test
  void ofALargeLogTheLastPartIsRead() throws Exception {
    String line = "x".repeat(1023) + "\n";
    ServerLog log = ServerLog.file(log("first\n" + line.repeat(8 << 10) + "last\n"));
    assertThat(log.last(Integer.MAX_VALUE, l -> l.equals("first") || l.equals("last")))
        .containsExactly("last");
  }

  @Test
  void newLinesAreFollowedAlsoIntoTheNextFile() throws Exception {
    Path file = log("old\nlater\n");
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Thread follower =
        new Thread(
            () -> {
              try {
                ServerLog.file(file).follow(1, line -> !line.equals("no"), lines::add);
              } catch (IOException | InterruptedException e) {
                lines.add("ended");
              }
            });
    follower.start();
    assertThat(lines.poll(20, TimeUnit.SECONDS)).isEqualTo("later");
    Files.writeString(file, "no\nhalf", StandardOpenOption.APPEND);
    Files.writeString(file, " a line\n", StandardOpenOption.APPEND);
    assertThat(lines.poll(20, TimeUnit.SECONDS)).isEqualTo("half a line");
    Files.move(file, folder.resolve("server.log.1"));
    log("next\n");
    assertThat(lines.poll(20, TimeUnit.SECONDS)).isEqualTo("next");
    follower.interrupt();
    assertThat(lines.poll(20, TimeUnit.SECONDS)).isEqualTo("ended");
  }

  @Test
  void noLinkIsFollowed() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("link"), log("secret\n"));
    assertThatThrownBy(() -> ServerLog.file(link).last(1, line -> true))
        .isInstanceOf(IOException.class);
  }

  @Test
  @Timeout(120)
  void aFifoInItsPlaceBlocksNobody() throws Exception {
    Path fifo = folder.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> ServerLog.file(fifo).last(1, line -> true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("Illegal seek");
  }

  @Test
  void aLogThatIsNotThereIsSaidToBe() {
    assertThatThrownBy(() -> ServerLog.file(folder.resolve("none")).last(1, line -> true))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("there is no log");
  }
}
