package graft.remoting.server.operate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.CurrentUser;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What reaches the operators' socket, and what does not. */
@Timeout(120)
class OperatorSocketTest {
  /** More than the buffers of a Unix socket hold. */
  private static final int LARGE = 8 << 20;

  @TempDir Path folder;
  private Path path;
  private OperatorSocket socket;
  private volatile long worker;

  private static Map<String, Object> answer(Map<String, Object> request) {
    return Map.of("got", request, "text", request.containsKey("large") ? "x".repeat(LARGE) : "");
  }

  @BeforeEach
  void open() throws ServerException {
    path = folder.resolve("operator.sock");
    socket = new OperatorSocket(path, OperatorSocketTest::answer, process -> process == worker);
  }

  @AfterEach
  void close() {
    socket.close();
    assertThat(path).doesNotExist();
  }

  private SocketChannel connect() throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(path));
    return channel;
  }

  private void assertAnswers() throws IOException {
    assertThat(OperatorClient.ask(path, Map.of("request", "sessions")))
        .containsEntry("got", Map.of("request", "sessions"));
  }

  private static String readAll(SocketChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(64 << 10);
    while (channel.read(bytes) > 0) {
      // until the server closes the connection
    }
    return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
  }

  @Test
  void aRequestIsALineAndSoIsItsAnswer() throws Exception {
    try (SocketChannel channel = connect()) {
      channel.write(
          ByteBuffer.wrap("{\"request\":\"sessions\"}\n".getBytes(StandardCharsets.UTF_8)));
      assertThat(readAll(channel)).startsWith("{\"").endsWith("}\n").hasLineCount(1);
    }
  }

  @Test
  void onlyTheOwnerAndItsGroupCanOpenTheSocket() throws Exception {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-rw----");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\n",
        "sessions\n",
        "[]\n",
        "{\"request\":\n",
        "{\"request\":\"sessions\"} {}\n",
        "\u0000\u0001\u00ff\n",
        "GET / HTTP/1.1\r\n\r\n"
      })
  void garbageIsRefusedAndTheNextRequestAnswered(String garbage) throws Exception {
    try (SocketChannel channel = connect()) {
      channel.write(ByteBuffer.wrap(garbage.getBytes(StandardCharsets.ISO_8859_1)));
      assertThat(readAll(channel)).contains("\"error\"");
    }
    assertAnswers();
  }

  @Test
  void deeplyNestedJsonIsRefused() throws Exception {
    try (SocketChannel channel = connect()) {
      String nested = "{\"a\":" + "[".repeat(OperatorSocket.MAX_REQUEST - 10) + "\n";
      channel.write(ByteBuffer.wrap(nested.getBytes(StandardCharsets.UTF_8)));
      assertThat(readAll(channel)).contains("\"error\"");
    }
    assertAnswers();
  }

  @Test
  void aRequestOf100MegabytesEndsItsConnection() throws Exception {
    try (SocketChannel channel = connect()) {
      ByteBuffer chunk = ByteBuffer.allocate(1 << 20);
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 100; i++) {
                  chunk.clear();
                  while (chunk.hasRemaining()) {
                    channel.write(chunk);
                  }
                }
              })
          .isInstanceOf(IOException.class);
    }
    assertAnswers();
  }

  @Test
  void aPeerThatSendsNothingDoesNotKeepOthersFromAnswers() throws Exception {
    try (SocketChannel silent = connect()) {
      assertAnswers();
      assertThat(readAll(silent)).contains("\"error\"");
    }
  }

  @Test
  void aPeerThatNeverReadsDoesNotKeepOthersFromAnswers() throws Exception {
    try (SocketChannel deaf = connect()) {
      deaf.write(ByteBuffer.wrap("{\"large\":true}\n".getBytes(StandardCharsets.UTF_8)));
      assertAnswers();
      assertThat(deaf.isOpen()).isTrue();
    }
  }

  @Test
  void aWorkerIsNotAnswered() throws Exception {
    worker = ProcessHandle.current().pid();
    assertThatThrownBy(this::assertAnswers)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("only root and the user that it runs as");
    worker = 0;
    assertAnswers();
  }

  @Test
  void anotherUserIsNotAnsweredEvenIfTheFilesAllowIt() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can become another user");
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
    String ask =
        "use IO::Socket::UNIX; $SIG{PIPE} = 'IGNORE';"
            + " my $s = IO::Socket::UNIX->new(Peer => shift) or die qq(no connection: $!\\n);"
            + " print $s qq({\"request\":\"sessions\"}\\n); $s->flush; print qq(answer:), <$s>;";
    assertThat(run("perl", "-e", ask, path.toString())).startsWith("answer:{");
    assertThat(
            run(
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "perl",
                "-e",
                ask,
                path.toString()))
        .isEqualTo("answer:");
    assertAnswers();
  }

  private static String run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    return output;
  }

  @Test
  void aLinkToTheSocketOfAnotherUserIsNotAsked() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can give files to another user");
    Path link = folder.resolve("link.sock");
    Files.createSymbolicLink(link, path);
    Files.setAttribute(link, "unix:uid", 65534, java.nio.file.LinkOption.NOFOLLOW_LINKS);
    assertThatThrownBy(() -> OperatorClient.sessions(link))
        .hasMessageContaining("belongs to user 65534, but user 0 serves it");
  }
}
