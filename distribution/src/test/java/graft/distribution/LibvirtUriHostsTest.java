package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.json.Json;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * A host that libvirt's URI names: an SSH server of this machine with a state folder of its own.
 * The host has a GPU, and sets up a machine that exists already.
 */
@Tag("integration")
@Timeout(300)
@ResourceLock(UnprivilegedServerTest.USER)
@Execution(ExecutionMode.CONCURRENT)
class LibvirtUriHostsTest {
  private static final Path SSHD = Path.of("/usr/sbin/sshd");
  private static final Path MAKE =
      Checkout.ROOT.resolve("provisioner/cli/src/test/resources/make-machine");
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String NAME = "by-uri";

  /** Both tests find the programs there that the first has brought. */
  @TempDir static Path programs;

  @TempDir Path folder;
  private int machinePort;
  private int hostPort;
  private Process server;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can enter another root folder");
    assumeTrue(Files.isExecutable(SSHD), "no openssh-server here");
    machinePort = freePort();
    hostPort = freePort();
    Finished made =
        Finished.run(
            folder,
            Map.of("PATH", System.getenv("PATH")),
            List.of(MAKE.toString(), folder.toString(), String.valueOf(machinePort)));
    assertThat(made.code()).as(made.err()).isZero();
    String sshd = Files.readString(folder.resolve("sshd.conf"));
    int machine = sshd.indexOf("ForceCommand");
    Files.writeString(
        folder.resolve("sshd.conf"),
        "%sPort %d\nMatch LocalPort %d\n  %s\nMatch LocalPort %d\n  ForceCommand %s\n"
            .formatted(
                sshd.substring(0, machine),
                hostPort,
                machinePort,
                sshd.substring(machine).strip(),
                hostPort,
                folder.resolve("enter")));
    String known = Files.readString(folder.resolve("known-hosts"));
    Files.writeString(
        folder.resolve("known-hosts"), known + known.replace(":" + machinePort, ":" + hostPort));
    // The folder for programs of a host that the command line names is the usual one.
    Files.writeString(
        folder.resolve("enter"),
        """
        #!/bin/sh
        export GRAFT_STATE_DIR=%s PATH=%s
        exec /bin/sh -c "$(printf %%s "$SSH_ORIGINAL_COMMAND" | sed 's,/opt/graft-hosts,%s,g')"
        """
            .formatted(state(), System.getenv("PATH"), programs));
    Files.setPosixFilePermissions(
        folder.resolve("enter"), PosixFilePermissions.fromString("rwxr-xr-x"));
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

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private boolean listens() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), hostPort)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  @AfterEach
  void stop() throws Exception {
    if (server != null) {
      if (Files.exists(state().resolve(NAME))) { // whatever a failed test has left
        run(state(), "destroy", NAME);
      }
      server.destroy();
      server.waitFor();
    }
  }

  private Path state() {
    return folder.resolve("host-state");
  }

  private Path record() {
    return folder.resolve("operator/.operated").resolve(NAME).resolve("hosts.json");
  }

  private String uri(String machine) {
    return "qemu+ssh://root@%s:%d/system?keyfile=%s/key&known_hosts=%s/known-hosts"
        .formatted(machine, hostPort, folder, folder);
  }

  /** A descriptor with a line of its own. */
  private String descriptor(String line) throws IOException {
    String text =
        """
        graft: 1
        %s
        gpus: [{name: gpu0, device: software}]
        guests:
        - name: vm
          existing: {ssh: root@127.0.0.1, port: %d, key: %s/key, known-hosts: %s/known-hosts}
          vgpu: gpu0
        """
            .formatted(line, machinePort, folder, folder);
    return Files.writeString(folder.resolve(NAME + ".yaml"), text).toString();
  }

  private Finished run(Path stateFolder, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME + "/bin/graft"));
    command.addAll(List.of(arguments));
    Map<String, String> environment =
        Map.of("PATH", System.getenv("PATH"), "GRAFT_STATE_DIR", stateFolder.toString());
    return Finished.run(folder, environment, command, Duration.ofMinutes(3));
  }

  private Finished graft(String... arguments) throws Exception {
    return run(folder.resolve("operator"), arguments);
  }

  private String said(String... arguments) throws Exception {
    Finished finished = graft(arguments);
    assertThat(finished.code()).as(finished.out() + finished.err()).isZero();
    return finished.out();
  }

  private String refused(int code, String... arguments) throws Exception {
    Finished finished = graft(arguments);
    assertThat(finished.code()).as(finished.out() + finished.err()).isEqualTo(code);
    return finished.err();
  }

  @Test
  void aDeploymentStaysOnTheHostOfItsUri() throws Exception {
    String lab = descriptor("");
    assertThat(said("plan", "-c", uri("127.0.0.1"), lab))
        .contains("host-127-0-0-1: ", "steps on 1 host");
    assertThat(record()).doesNotExist();
    assertThat(said("apply", "--connect", uri("127.0.0.1"), lab)).contains("by-uri: applied");
    Map<String, Object> received =
        Json.readObject(Files.readString(state().resolve(".hosts/by-uri/descriptor.yaml")));
    assertThat(received).containsEntry("libvirt", "qemu:///system").doesNotContainKey("hosts");
    assertThat(folder.resolve("operator").resolve(NAME)).doesNotExist();
    // No option and no key names the host any more.
    assertThat(said("status", lab)).contains("host-127-0-0-1", "gpu0 running", "vm existing");
    assertThat(said("status", NAME)).contains("gpu0 running");
    assertThat(said("apply", lab)).contains("host-127-0-0-1: nothing to do");
    for (String command : List.of("plan", "apply", "status", "undo", "destroy")) {
      assertThat(refused(1, command, "-c", uri("localhost"), lab))
          .contains("'by-uri' is on root@127.0.0.1 already", "graft destroy by-uri");
    }
    assertThat(said("destroy", NAME)).contains("by-uri: done");
    assertThat(record()).doesNotExist();
    assertThat(state().resolve(NAME)).doesNotExist();
  }

  @Test
  void aHostOfTheDescriptorIsNamedByItsUri() throws Exception {
    String lab =
        descriptor(
            "hosts: [{name: kvm1, ssh: '%s', folder: %s}]".formatted(uri("127.0.0.1"), programs));
    assertThat(said("apply", lab)).contains("kvm1: applied", "by-uri: applied");
    assertThat(said("status", lab)).contains("gpu0 running", "vm existing");
    assertThat(refused(3, "plan", "-c", uri("127.0.0.1"), lab))
        .contains("the descriptor has hosts, and --inventory or --connect was given too");
    said("undo", lab);
    assertThat(state().resolve(NAME)).doesNotExist();
    assertThat(said("plan", descriptor("libvirt: " + uri("127.0.0.1"))))
        .contains("host-127-0-0-1: ", "steps on 1 host");
  }

  @Test
  void aUriThatIsNoLoginOnAHostIsRefusedBeforeAnythingIsDone() throws Exception {
    String lab = descriptor("");
    assertThat(refused(2, "apply", "-c", "qemu+ssh://root:hunter2@127.0.0.1/system", lab))
        .contains("--connect: the URI has a password")
        .doesNotContain("hunter2");
    assertThat(refused(2, "apply", "-c", "qemu+tls://127.0.0.1/system", lab))
        .contains("write qemu+ssh://USER@HOST/system");
    assertThat(refused(2, "plan", "-c", uri("127.0.0.1"), "--inventory", "x.ini", lab))
        .contains("leave one out");
    assertThat(refused(1, "plan", "-c", "qemu:///system", lab))
        .contains("write libvirt: qemu:///system into the descriptor");
    assertThat(refused(1, "status", "-c", uri("127.0.0.1"))).contains("name its descriptor");
    assertThat(
            refused(
                3,
                "plan",
                "-c",
                "xen" + uri("127.0.0.1").substring(4),
                descriptor("hypervisor: kvm")))
        .contains("'xen' runs no guests of the descriptor's hypervisor, kvm");
    assertThat(refused(4, "plan", "-c", uri("127.0.0.1").replaceAll("known_hosts=.*", ""), lab))
        .contains("Host key verification failed");
    assertThat(record()).doesNotExist();
    assertThat(state()).doesNotExist();
  }
}
