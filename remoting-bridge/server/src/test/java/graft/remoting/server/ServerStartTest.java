package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.WorkerJail;
import graft.remoting.server.pool.WorkerCommand;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.worker.WorkerMain;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ServerStartTest {
  @TempDir Path folder;

  private ServerException failure(ServerConfig config) {
    try (GraftServer server = GraftServer.start(config)) {
      throw new AssertionError("started at " + server.addresses());
    } catch (ServerException e) {
      return e;
    }
  }

  @Test
  void anAddressInUseIsNamed() throws Exception {
    try (Listener taken = Listener.open(ListenAddress.parse("tcp://127.0.0.1:0"))) {
      ServerConfig config = ServerFixture.config(folder).listen(taken.address()).build();
      assertThat(failure(config))
          .hasMessageContaining(taken.address().toString())
          .hasMessageContaining("another process listens there");
    }
  }

  @Test
  void aUnixSocketOfALivingServerIsLeftAlone() throws Exception {
    ListenAddress.Unix address = new ListenAddress.Unix(folder.resolve("s.sock"));
    try (Listener taken = Listener.open(address)) {
      assertThat(failure(ServerFixture.config(folder).listen(taken.address()).build()))
          .hasMessageContaining("another process listens there");
      assertThat(address.path()).exists();
    }
  }

  @Test
  void aUnixSocketThatADeadServerLeftIsTakenOver() throws Exception {
    Path path = folder.resolve("s.sock");
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(path));
    }
    assertThat(path).exists();
    try (ServerFixture fixture =
            ServerFixture.start(folder, c -> c.listen(new ListenAddress.Unix(path)));
        WireClient client =
            WireClient.session(fixture.server.addresses().get(1), "bob", ServerFixture.BOB)) {
      assertThat(client.call(EchoBackend.ECHO, 1, new byte[0]).slot()).isEqualTo(1);
    }
  }

  @Test
  void aFileThatIsNoSocketIsNotRemoved() throws Exception {
    Path path = Files.writeString(folder.resolve("precious"), "data");
    assertThat(failure(ServerFixture.config(folder).listen(new ListenAddress.Unix(path)).build()))
        .hasMessageContaining("no socket");
    assertThat(path).hasContent("data");
  }

  @Test
  void aDeviceThatDoesNotOpenSaysWhy() throws Exception {
    ServerConfig config =
        ServerConfig.builder(ServerFixture.tokens(folder), DeviceSpec.parse("broken"))
            .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
            .build();
    assertThat(failure(config)).hasMessage("the broken device does not open: repair it");
  }

  @Test
  void anUnknownDeviceListsTheKnownOnes() throws Exception {
    ServerConfig config =
        ServerConfig.builder(ServerFixture.tokens(folder), DeviceSpec.parse("abacus"))
            .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
            .build();
    assertThat(failure(config)).hasMessageContaining("'abacus'").hasMessageContaining("echo");
  }

  @Test
  void aWorkerThatCannotStartIsReported() throws Exception {
    ServerConfig config =
        ServerFixture.config(folder).workerOptions(List.of("-XX:NoSuchOption")).build();
    assertThat(failure(config)).hasMessageContaining("ended with status 1");
  }

  @Test
  void aFailedStartLeavesNothingBehind() throws Exception {
    Path socket = folder.resolve("s.sock");
    ServerConfig config =
        ServerConfig.builder(ServerFixture.tokens(folder), DeviceSpec.parse("broken"))
            .listen(new ListenAddress.Unix(socket))
            .build();
    failure(config);
    assertThat(socket).doesNotExist();
  }

  private WorkerCommand command() {
    return new WorkerCommand(
        WorkerMain.class, WorkerJail.none("a test"), folder, 0, List.of(), true, true, List.of());
  }

  @Test
  void theWorkersArgumentsHoldNoSecret() {
    WorkerCommand command = command();
    assertThat(command.arguments(new WorkerKind(DeviceSpec.parse("cuda:1"), false), false))
        .noneMatch(argument -> argument.contains("token"))
        .endsWith(folder.resolve("workers.sock").toString(), "cuda:1", "0", "true");
  }

  @Test
  void aGpusWorkersHaveBothOfJavasCompilers() {
    WorkerCommand command = command();
    String one = "-XX:TieredStopAtLevel=1";
    assertThat(command.arguments(new WorkerKind(DeviceSpec.parse("software"), false), true))
        .contains(one);
    assertThat(command.arguments(new WorkerKind(DeviceSpec.parse("cuda"), false), true))
        .doesNotContain(one);
  }

  @Test
  void metricsAreShownLocallyOnly() throws Exception {
    ServerConfig open =
        ServerFixture.config(folder).metrics(ListenAddress.parse("tcp://0.0.0.0:0")).build();
    assertThat(failure(open)).hasMessageContaining("loopback");
    try (ServerFixture fixture =
            ServerFixture.start(folder, c -> c.metrics(ListenAddress.parse("tcp://127.0.0.1:0")));
        WireClient client = fixture.alice()) {
      client.call(EchoBackend.ECHO, 1, new byte[0]);
      ListenAddress.Tcp at = (ListenAddress.Tcp) fixture.server.metricsAddress().orElseThrow();
      String page =
          new String(
              new java.net.URL("http://127.0.0.1:" + at.port() + "/metrics")
                  .openStream()
                  .readAllBytes(),
              java.nio.charset.StandardCharsets.UTF_8);
      String labels = "{guest=\"alice\",gpu=\"echo\",UUID=\"\"} ";
      assertThat(page)
          .contains("graft_sessions" + labels + "1\n")
          .contains("graft_sessions_total" + labels + "1\n")
          .contains("graft_vgpu_memory_used_bytes" + labels);
    }
  }

  @Test
  void addressesAreChecked() {
    assertThat(ListenAddress.parse("tcp://[::1]:80")).isEqualTo(new ListenAddress.Tcp("::1", 80));
    assertThat(ListenAddress.parse("unix:///a/b").toString()).isEqualTo("unix:///a/b");
    for (String wrong :
        List.of(
            "", "tcp://x", "tcp://:1", "tcp://h:70000", "unix://a", "http://h:1", "tcp://h:1x")) {
      assertThatThrownBy(() -> ListenAddress.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
