package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.CurrentUser;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A CUDA program on a machine that exists already, from its descriptor to its destruction. */
@Tag("integration")
@Timeout(300)
@ResourceLock(UnprivilegedServerTest.USER)
class ExistingMachineRunTest {
  private static final Path SSHD = Path.of("/usr/sbin/sshd");
  private static final Path MAKE =
      Checkout.ROOT.resolve("provisioner/cli/src/test/resources/make-machine");

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir Path folder;
  private int port;
  private Process server;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can enter another root folder");
    assumeTrue(Files.isExecutable(SSHD), "no openssh-server here");
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    Finished made =
        Finished.run(
            folder,
            Map.of("PATH", System.getenv("PATH")),
            List.of(MAKE.toString(), folder.toString(), String.valueOf(port)));
    assertThat(made.code()).as(made.err()).isZero();
    server =
        new ProcessBuilder(SSHD.toString(), "-D", "-e", "-f", folder + "/sshd.conf")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("sshd.log").toFile())
            .start();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!listens()) {
      assertThat(server.isAlive() && System.nanoTime() < deadline).as("sshd starts").isTrue();
      Thread.onSpinWait();
    }
  }

  private boolean listens() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  @AfterEach
  void stop() throws Exception {
    if (server != null) {
      graft("destroy", "e2e");
      server.destroy();
      server.waitFor();
    }
  }

  private Finished graft(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME + "/bin/graft"));
    command.addAll(List.of(arguments));
    Map<String, String> environment =
        Map.of(
            "PATH", System.getenv("PATH"), "GRAFT_STATE_DIR", folder.resolve("state").toString());
    return Finished.run(folder, environment, command, Duration.ofMinutes(2));
  }

  private String said(String... arguments) throws Exception {
    Finished finished = graft(arguments);
    assertThat(finished.code()).as(finished.out() + finished.err()).isZero();
    return finished.out();
  }

  private List<String> files() throws IOException {
    try (Stream<Path> all = Files.walk(folder.resolve("root"))) {
      return all.map(Path::toString).sorted().toList();
    }
  }

  /** The descriptor of the machine, as {@code adopt} writes it. */
  private String adopted() throws Exception {
    String lab = folder.resolve("e2e.yaml").toString();
    said(
        "adopt",
        "root@127.0.0.1",
        lab,
        "--port",
        String.valueOf(port),
        "--key",
        folder.resolve("key").toString(),
        "--known-hosts",
        folder.resolve("known-hosts").toString());
    return lab;
  }

  @Test
  void aCudaProgramRunsThereUntilItsAccessIsRevoked() throws Exception {
    List<String> before = files();
    byte[] cache = Files.readAllBytes(folder.resolve("root/etc/ld.so.cache"));
    String lab = adopted();
    said("apply", lab);
    assertThat(Files.readAllBytes(folder.resolve("root/etc/ld.so.cache"))).isNotEqualTo(cache);
    assertThat(said("verify", lab))
        .contains(": ok on Graft software device 0 at tcp://127.0.0.1:")
        .contains("this Graft's");
    said("rotate", lab);
    said("verify", lab);
    String guest = said("status", lab).replaceFirst("(?s).*guest ([a-z0-9-]+): existing.*", "$1");
    said("revoke", lab, guest);
    assertThat(graft("verify", lab).out()).contains("failed");
    said("destroy", lab);
    assertThat(files()).isEqualTo(before);
    assertThat(Files.readAllBytes(folder.resolve("root/etc/ld.so.cache"))).isEqualTo(cache);
  }

  /** Each server has a token of its own, and one that is lost is not overlooked. */
  @Test
  void aCudaProgramRunsOnTheGpusOfTwoServers() throws Exception {
    List<String> before = files();
    String lab = adopted();
    Path file = Path.of(lab);
    Files.writeString(
        file,
        Files.readString(file)
            .replaceFirst("(?m)^gpus:.*$", "$0\n  - {name: second, device: software}")
            .replaceFirst("vgpu: (\\S+)", "vgpu: [$1, second]"));
    String both =
        "ok on Graft software device 0 %1$s tcp://127\\.0\\.0\\.1:\\d+;"
            + " Graft software device 0 %1$s tcp://127\\.0\\.0\\.1:\\d+";
    said("apply", lab);
    String status = said("status", lab);
    assertThat(status).containsPattern("CUDA " + both.formatted("by"));
    List<String> tokens = tokens();
    said("rotate", lab);
    assertThat(tokens()).hasSize(2).doesNotHaveDuplicates().doesNotContainAnyElementsOf(tokens);
    assertThat(said("verify", lab)).containsPattern(both.formatted("at"));
    said("stop", lab, "second");
    assertThat(graft("verify", lab).out()).contains("failed: 1 of 2 servers cannot be reached");
    said("start", lab, "second");
    said("revoke", lab, status.replaceFirst("(?s).*guest ([a-z0-9-]+): existing.*", "$1"));
    assertThat(graft("verify", lab).out()).contains("failed");
    said("destroy", lab);
    assertThat(files()).isEqualTo(before);
  }

  /** The tokens on the machine, which only root may read. */
  private List<String> tokens() throws IOException {
    List<String> tokens = new ArrayList<>();
    for (String name : List.of("token", "token-second")) {
      Path token = folder.resolve("root/etc/graft").resolve(name);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token)))
          .isEqualTo("rw-------");
      tokens.add(Files.readString(token));
    }
    return tokens;
  }
}
