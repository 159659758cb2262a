package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.system.AddressInUseException;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Listener;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The server as a process of its own: signals, and the files that it leaves behind. */
@Timeout(120)
@Isolated("it counts the processes of this one")
class ServerProcessTest {
  @TempDir Path folder;
  private Process server;
  private ListenAddress address;
  private Path socket;

  @BeforeEach
  void start() throws Exception {
    socket = folder.resolve("s.sock");
    server =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + folder,
                "-cp",
                System.getProperty("java.class.path"),
                ServerMain.class.getName(),
                "--listen",
                "unix://" + socket,
                "--tokens",
                ServerFixture.tokens(folder).toString(),
                "--device",
                "echo")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    address = ListenAddress.parse(firstLine());
  }

  private String firstLine() throws IOException {
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    return out.readLine();
  }

  @AfterEach
  void stop() {
    server.destroyForcibly();
  }

  private List<ProcessHandle> workers() {
    return server.descendants().toList();
  }

  private static void assertEnd(List<ProcessHandle> processes) throws Exception {
    for (ProcessHandle process : processes) {
      process.onExit().get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void terminatedItEndsSessionsAndLeavesNothingBehind() throws Exception {
    try (WireClient client = WireClient.session(address, "alice", ServerFixture.ALICE)) {
      assertThat(client.call(EchoBackend.ECHO, 1, new byte[0]).slot()).isEqualTo(1);
      List<ProcessHandle> workers = workers();
      assertThat(workers).isNotEmpty();
      server.destroy();
      assertThat(server.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertEnd(workers);
      assertThatThrownBy(() -> client.receive(1)).isInstanceOf(IOException.class);
    }
    assertThat(socket).doesNotExist();
    assertThat(folder.resolve("s.sock.lock")).doesNotExist();
  }

  @Test
  void killedItTakesItsWorkersAlongEvenInACall() throws Exception {
    try (WireClient client = WireClient.session(address, "alice", ServerFixture.ALICE)) {
      client.record(EchoBackend.HANG, 1, 1, new byte[0]);
      List<ProcessHandle> workers = workers();
      server.destroyForcibly();
      assertEnd(workers);
      assertThatThrownBy(() -> client.receive(1)).isInstanceOf(IOException.class);
    }
    // Another server can then use the address.
    server.waitFor();
    try (Listener next = Listener.open(new ListenAddress.Unix(socket))) {
      assertThat(next.address()).isEqualTo(address);
    }
  }

  @Test
  void anotherProcessCannotTakeItsSocket() throws Exception {
    assertThatThrownBy(() -> Listener.open(new ListenAddress.Unix(socket)))
        .isInstanceOf(AddressInUseException.class);
    try (WireClient client = WireClient.session(address, "alice", ServerFixture.ALICE)) {
      assertThat(client.call(EchoBackend.ECHO, 1, new byte[0]).slot()).isEqualTo(1);
    }
  }

  @Test
  void wrongArgumentsAreExplained() {
    for (List<String> arguments :
        List.of(
            List.of("--listen", "tcp://127.0.0.1:0"),
            List.of("--tokens", "t"),
            List.of("--tokens", "t", "--listen", "nowhere"),
            List.of("--tokens", "t", "--listen", "tcp://h:1", "--spare", "many"),
            List.of("--tokens", "t", "--listen", "tcp://h:1", "--colour", "red"),
            List.of("--tokens", "t", "--listen"))) {
      assertThatThrownBy(() -> ServerMain.parse(arguments))
          .as("%s", arguments)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageNotContaining("null");
    }
  }
}
