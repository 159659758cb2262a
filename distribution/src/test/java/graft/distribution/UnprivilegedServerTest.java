package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.disk.PrivateFiles;
import graft.common.program.CurrentUser;
import graft.common.values.Endpoint;
import graft.common.values.Name;
import graft.deployment.state.ServerFolder;
import graft.deployment.state.ServerProcess;
import graft.deployment.state.ServerUser;
import graft.deployment.state.StateFolder;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A server of root's as apply runs it without systemd: as its own user, under a starter. */
@Tag("integration")
@Timeout(300)
@ResourceLock(UnprivilegedServerTest.USER)
@Order(Integer.MAX_VALUE)
class UnprivilegedServerTest {
  /** The user that deployments of root make, and the last of them removes. */
  static final String USER = "the user graft";

  @TempDir Path folder;
  private Process apply;
  private String address;
  private StateFolder state;
  private ServerFolder its;
  private boolean hadUser;

  @BeforeEach
  void apply() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can start programs as other users");
    assumeTrue(othersReach(Checkout.HOME), "other users cannot read " + Checkout.HOME);
    hadUser = ServerUser.find().isPresent();
    try (ServerSocket free = new ServerSocket(0)) {
      address = "tcp://127.0.0.1:" + free.getLocalPort();
    }
    state = new StateFolder(new Name("lab"), folder.resolve("lab"));
    its = ServerFolder.of(state, new Name("gpu0"));
    apply =
        new ProcessBuilder(
                Checkout.HOME.resolve("runtime/bin/java").toString(),
                "-Dgraft.home=" + Checkout.HOME,
                "-cp",
                Checkout.HOME.resolve("lib/graft.jar")
                    + File.pathSeparator
                    + Path.of(
                        UnprivilegedServer.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI()),
                UnprivilegedServer.class.getName(),
                folder.toString(),
                address)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    while (!Files.exists(folder.resolve("started"))) {
      assertThat(apply.waitFor(20, TimeUnit.MILLISECONDS))
          .as(() -> text(folder.resolve("log")))
          .isFalse();
    }
  }

  private static boolean othersReach(Path path) throws IOException {
    for (Path at = path.toRealPath(); at != null; at = at.getParent()) {
      if (!Files.getPosixFilePermissions(at)
          .contains(java.nio.file.attribute.PosixFilePermission.OTHERS_EXECUTE)) {
        return false;
      }
    }
    return true;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @AfterEach
  void end() throws Exception {
    if (apply != null) {
      apply.getOutputStream().close();
      apply.waitFor();
    }
  }

  private ProcessHandle starter() {
    return ServerProcess.recorded(state.serverPid(new Name("gpu0"))).orElseThrow();
  }

  private Optional<ProcessHandle> server() {
    return starter()
        .children()
        .filter(child -> child.info().user().equals(Optional.of(ServerUser.NAME)))
        .findFirst();
  }

  private void vectorAdd() throws Exception {
    Path token = Files.writeString(folder.resolve("token"), SoftwareServer.TOKEN);
    Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    Process run =
        new ProcessBuilder(
                List.of(
                    SoftwareServer.GRAFT,
                    "run",
                    "--server",
                    address,
                    "--name",
                    SoftwareServer.NAME,
                    "--token-file",
                    token.toString(),
                    "--",
                    Checkout.HOME.resolve("examples/built/vectorAdd").toString()))
            .redirectErrorStream(true)
            .start();
    String said = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(run.waitFor()).as(said).isZero();
  }

  /** Connects with something that is no handshake. */
  private void refused() throws IOException {
    Endpoint at = Endpoint.parse(address);
    try (Socket stranger = new Socket(at.host(), at.port())) {
      stranger.getOutputStream().write(new byte[128]);
      assertThat(stranger.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void itHasNoPrivilegesAndComesBackAndLeavesNothing() throws Exception {
    ProcessHandle first = server().orElseThrow();
    List<String> status = Files.readAllLines(Path.of("/proc/" + first.pid() + "/status"));
    assertThat(status)
        .contains("NoNewPrivs:\t1")
        .contains("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000");
    assertThat(Files.getOwner(its.tokens(), LinkOption.NOFOLLOW_LINKS).getName())
        .isEqualTo(ServerUser.NAME);
    assertThat(Files.getOwner(its.files()).getName()).isEqualTo("root");
    vectorAdd();
    assertThat(Files.getOwner(its.operator(), LinkOption.NOFOLLOW_LINKS).getName())
        .isEqualTo(ServerUser.NAME);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(its.operators())))
        .isEqualTo("rwx------");
    Finished asked =
        Finished.run(
            folder,
            System.getenv(),
            List.of(
                SoftwareServer.GRAFT,
                "sessions",
                "--socket",
                its.operator().toString(),
                "-o",
                "json"));
    assertThat(asked.code()).as("%s", asked).isZero();
    assertThat(asked.out()).contains("\"device\" : \"software\"", "\"sessions\"");
    assertThat(Files.getOwner(its.log()).getName()).isEqualTo(ServerUser.NAME);
    refused();
    while (!Files.readString(its.log()).contains("refused 127.0.0.1")) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    assertThat(its.audit())
        .content()
        .contains("\"event\":\"connect\",\"who\":\"" + SoftwareServer.NAME + "\"");

    first.destroyForcibly();
    first.onExit().get();
    while (ServerProcess.recorded(state.serverPid(new Name("gpu0"))).isEmpty()
        || server().isEmpty()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    assertThat(server().orElseThrow().pid()).isNotEqualTo(first.pid());
    vectorAdd();

    ProcessHandle starter = starter();
    end();
    assertThat(apply.exitValue()).as(() -> text(folder.resolve("log"))).isZero();
    assertThat(starter.isAlive()).isFalse();
    assertThat(its.files()).doesNotExist();
    assertThat(its.runtime()).doesNotExist();
    assertThat(its.operators()).doesNotExist();
    assertThat(its.log()).doesNotExist();
    assertThat(Files.getOwner(its.logs()).getName())
        .as("of the trail, which stays")
        .isEqualTo("root");
    assertThat(its.audit()).exists();
    PrivateFiles.deleteFolder(its.logs());
    assertThat(ServerUser.find().isPresent()).isEqualTo(hadUser);
  }
}
