package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.grants.DomainList;
import graft.common.program.CurrentUser;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.WorkerJail;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.system.SocketAddress;
import graft.remoting.server.worker.WorkerMain;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a compromised server can have graft-starter do. The starter and its configuration are the
 * real ones; {@code jail/test/starter.c} attacks the starter's code more closely.
 */
@Timeout(120)
class StarterTest {
  private static final WorkerKind ECHO = new WorkerKind(DeviceSpec.parse("echo"), false);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int DESCRIPTORS = 2;

  @TempDir Path folder;
  private WorkerJail jail;
  private Process process;
  private Path socket;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "a starter needs root");
    jail = WorkerJail.open(JailConfig.defaults());
    assumeTrue(jail.needsStarter(), "graft-jail has not been built");
    WorkerCommand command =
        new WorkerCommand(WorkerMain.class, jail, folder, 0, List.of(), true, true, List.of());
    Path config = folder.resolve("starter.conf");
    Files.writeString(
        config,
        new StarterConfig(command, jail, ECHO.device(), 3, Optional.of(folder.resolve("domains")))
            .text());
    Files.setPosixFilePermissions(config, PosixFilePermissions.fromString("rw-------"));
    socket = folder.resolve("starter.sock");
    process =
        new ProcessBuilder(
                jail.starter().toString(),
                "--config",
                config.toString(),
                "--socket",
                socket.toString())
            .redirectError(new File("/dev/null"))
            .start();
    while (!Files.exists(socket)) {
      assertThat(process.waitFor(2, TimeUnit.MILLISECONDS)).isFalse();
    }
  }

  @AfterEach
  void stop() throws Exception {
    if (process != null) {
      process.destroy();
      assertThat(process.waitFor()).isZero();
    }
    if (jail != null) {
      jail.close();
    }
  }

  private Starter server() throws ServerException {
    return Starter.connect(socket, cause -> {});
  }

  private NativeSocket attacker() throws IOException {
    NativeSocket connection =
        new NativeSocket(
            Libc.socket(Libc.AF_UNIX, Libc.SOCK_SEQPACKET | Libc.SOCK_CLOEXEC, 0), "starter");
    try (Scratch address = new Scratch(SocketAddress.CAPACITY)) {
      int length = SocketAddress.write(address.address(), socket);
      assertThat(Libc.connect(connection.fd(), address.address(), length)).isZero();
    }
    return connection;
  }

  private static void send(NativeSocket to, byte[] packet, List<Integer> fds) throws IOException {
    try (Scratch bytes = Scratch.of(packet)) {
      Descriptors.send(to, bytes.address(), packet.length, fds, 0);
    }
  }

  /** Returns the next answer, null at the connection's end. */
  private static StarterMessages.Answer next(NativeSocket from) throws IOException {
    try (Scratch bytes = new Scratch(StarterMessages.MOST)) {
      Descriptors.Received received =
          Descriptors.receive(from, bytes.address(), StarterMessages.MOST);
      return received.bytes() == 0
          ? null
          : StarterMessages.answer(bytes.bytes(0, received.bytes()), received.fds());
    }
  }

  /** Whether there is Xen decides how a listed domain is refused here. */
  @Test
  void onlyListedDomainsGetPages() throws Exception {
    Path list = folder.resolve("domains");
    try (Starter server = server()) {
      assertThatThrownBy(() -> server.grant("left")).hasMessageContaining("the list of domains");
      new DomainList(list).add("left");
      assertThatThrownBy(() -> server.grant("right"))
          .hasMessage(list + " does not name the domain right");
      assertThatThrownBy(() -> server.grant("left")).hasMessageContaining("xenstore");
      assertThatThrownBy(() -> server.grant("x".repeat(64)))
          .hasMessageContaining("the name is too long");
      assertThat(server.start(ECHO)).isNotNull(); // the connection goes on
    }
  }

  @Test
  void aWorkerIsStartedAndEnds() throws Exception {
    try (Starter server = server()) {
      assertThat(server.isolation().has("seccomp")).isTrue();
      WorkerProcess worker = server.start(ECHO);
      ControlSocket control = worker.control().orElseThrow();
      assertThat(control.receive().message()).isInstanceOf(ControlMessage.Ready.class);
      String status = Files.readString(Path.of("/proc/" + worker.pid() + "/status"));
      assertThat(status).containsPattern("Uid:\t199\\d{7}\t").contains("NoNewPrivs:\t1");
      worker.kill();
      assertThat(worker.awaitEnd(LIMIT)).isEqualTo(OptionalInt.of(128 + 9));
      worker.kill();
      assertThat(worker.isAlive()).isFalse();
    }
  }

  @Test
  void workersHaveDifferentUsersAndABound() throws Exception {
    try (Starter server = server()) {
      WorkerProcess one = server.start(ECHO);
      WorkerProcess two = server.start(ECHO);
      server.start(ECHO);
      assertThatThrownBy(() -> server.start(ECHO)).hasMessageContaining("3 workers run");
      for (WorkerProcess worker : List.of(one, two)) {
        worker.control().orElseThrow().receive();
      }
      assertThat(owner(one)).isNotEqualTo(owner(two)).isNotEqualTo("root");
      one.kill();
      assertThat(one.awaitEnd(LIMIT)).isPresent();
      assertThat(server.start(ECHO).isAlive()).isTrue();
    }
  }

  private static String owner(WorkerProcess worker) throws IOException {
    return Files.readAllLines(Path.of("/proc/" + worker.pid() + "/status")).stream()
        .filter(line -> line.startsWith("Uid:"))
        .findFirst()
        .orElseThrow();
  }

  /** A worker that could change its guest would see the files of two guests. */
  @Test
  void aWorkerGetsTheFolderOfOneGuest() throws Exception {
    try (Starter server = server()) {
      assumeTrue(server.isolation().hasGuestFolders(), server.isolation()::describe);
      WorkerProcess worker = server.start(ECHO);
      worker.control().orElseThrow().receive();
      worker.share(1);
      assertThatThrownBy(() -> worker.share(2)).hasMessageContaining("has a guest already");
      assertThatThrownBy(() -> worker.share(1)).hasMessageContaining("has a guest already");
      worker.kill();
      assertThat(worker.awaitEnd(LIMIT)).isPresent();
      assertThatThrownBy(() -> worker.share(2)).hasMessageContaining("no such worker");
    }
  }

  @Test
  void whatTheConfigurationDoesNotListIsNotStarted() throws Exception {
    try (Starter server = server()) {
      for (String device : List.of("cuda", "software", "cuda:0", "echo:99")) {
        assertThatThrownBy(() -> server.start(new WorkerKind(DeviceSpec.parse(device), false)))
            .as(device)
            .isInstanceOf(IOException.class)
            .hasMessageContaining("configuration");
      }
      assertThatThrownBy(
              () -> server.start(new WorkerKind(DeviceSpec.parse("e" + "x".repeat(90)), false)))
          .hasMessageContaining("too long");
    }
  }

  /** Every field of a request that a server has no say in. */
  @Test
  void aForgedRequestEndsTheConnectionAndItsWorkers() throws Exception {
    Random random = new Random(7);
    for (int round = 0; round < 40; round++) {
      byte[] packet = StarterMessages.start(ECHO);
      int at = random.nextInt(packet.length);
      // The index of a GPU and the kind of device are a server's to choose, and are looked up.
      if ((at >= 12 && at < 16) || at >= 64) {
        at = 32 + at % 32;
      }
      packet[at] ^= (byte) 0x80;
      refused(packet, DESCRIPTORS);
    }
    byte[] good = StarterMessages.start(ECHO);
    refused(good, 0);
    refused(good, 1);
    refused(good, 4);
    refused(java.util.Arrays.copyOf(good, good.length - 1), DESCRIPTORS);
    refused(java.util.Arrays.copyOf(good, good.length + 1), DESCRIPTORS);
    refused(java.util.Arrays.copyOf(good, 100_000), DESCRIPTORS);
    for (String name : List.of("../echo", "echo echo", "ECHO", "echo\n", "")) {
      ByteBuffer request = ByteBuffer.wrap(StarterMessages.start(ECHO));
      request
          .position(64)
          .put(new byte[64])
          .position(64)
          .put(name.getBytes(StandardCharsets.UTF_8));
      refused(request.array(), DESCRIPTORS);
    }
    ByteBuffer bound = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
    bound.putInt(0x31545347).putInt(3).putInt(1).position(64).put((byte) 1);
    refused(bound.array(), 0);
    try (Starter server = server()) {
      assertThat(server.start(ECHO).isAlive()).as("the starter serves the next server").isTrue();
    }
  }

  private void refused(byte[] packet, int descriptors) throws IOException {
    try (NativeSocket connection = attacker()) {
      StarterMessages.Answer first = next(connection);
      if (first == null) {
        // The starter still holds the connection before this one.
        refused(packet, descriptors);
        return;
      }
      List<NativeSocket> pair = NativeSocket.pair("a worker");
      try {
        send(
            connection,
            packet,
            List.of(pair.get(0).fd(), pair.get(1).fd(), 0, 1).subList(0, descriptors));
        assertThat(next(connection)).isNull();
      } finally {
        pair.forEach(NativeSocket::close);
      }
    }
  }

  @Test
  void filesAreNoDescriptorsForAWorker() throws Exception {
    try (NativeSocket connection = attacker()) {
      assertThat(next(connection).type()).isEqualTo(StarterMessages.HELLO);
      int memory = Libc.open("/proc/self/mem", Libc.O_RDWR | Libc.O_CLOEXEC);
      List<NativeSocket> pair = NativeSocket.pair("a worker");
      for (List<Integer> fds :
          List.of(List.of(memory, memory), List.of(pair.get(0).fd(), memory))) {
        send(connection, StarterMessages.start(ECHO), fds);
        StarterMessages.Answer answer = next(connection);
        assertThat(answer.type()).isEqualTo(StarterMessages.REFUSED);
        assertThat(answer.text()).contains("descriptor");
      }
      pair.forEach(NativeSocket::close);
      Libc.close(memory);
    }
  }

  @Test
  void aServersEndEndsItsWorkersAndAStartersEndIsNoticed() throws Exception {
    CompletableFuture<Throwable> lost = new CompletableFuture<>();
    ProcessHandle worker;
    try (Starter server = server()) {
      worker = ProcessHandle.of(server.start(ECHO).pid()).orElseThrow();
    }
    worker.onExit().get(60, TimeUnit.SECONDS);
    Starter next = null;
    while (next == null) {
      try {
        next = Starter.connect(socket, lost::complete);
      } catch (ServerException e) {
        assertThat(e).hasMessageContaining("another server");
      }
    }
    WorkerProcess second = next.start(ECHO);
    process.destroyForcibly();
    assertThat(lost.get(60, TimeUnit.SECONDS)).hasMessageContaining("graft-starter has ended");
    assertThat(second.awaitEnd(LIMIT)).isPresent();
    next.close();
    process.waitFor();
    process = null;
  }
}
