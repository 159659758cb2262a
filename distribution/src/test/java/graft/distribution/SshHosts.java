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

/**
 * Two hosts and a machine on this machine: an SSH server with a port for each. The first host has a
 * GPU, and the machine that the second one sets up uses it. Each host has a state folder of its
 * own, {@code HOST/state}.
 */
final class SshHosts {
  private static final Path SSHD = Path.of("/usr/sbin/sshd");
  private static final Path MAKE =
      Checkout.ROOT.resolve("provisioner/cli/src/test/resources/make-machine");
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** What a session of a host runs if it is to run what the operator says. */
  static final String WORKS = "exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"";

  final Path folder;
  private final List<Integer> ports = new ArrayList<>();
  private final List<Path> mounts = new ArrayList<>();
  private final Process server;

  /**
   * Starts the SSH server.
   *
   * @param folder an empty one
   */
  SshHosts(Path folder) throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can enter another root folder");
    assumeTrue(Files.isExecutable(SSHD), "no openssh-server here");
    this.folder = folder;
    for (int i = 0; i < 4; i++) { // the machine's, the hosts', the GPU's
      try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        ports.add(socket.getLocalPort());
      }
    }
    done(MAKE.toString(), folder.toString(), String.valueOf(ports.get(0)));
    String sshd = Files.readString(folder.resolve("sshd.conf"));
    String machine = sshd.substring(sshd.indexOf("ForceCommand"));
    StringBuilder config = new StringBuilder(sshd.replace(machine, ""));
    StringBuilder matches = new StringBuilder("Match LocalPort " + ports.get(0) + "\n" + machine);
    for (String host : List.of("one", "two")) {
      config.append("Port ").append(port(host)).append('\n');
      Files.createDirectory(folder.resolve(host));
      enter(host, WORKS);
      know(host, "host-key");
      matches
          .append("Match LocalPort ")
          .append(port(host))
          .append("\nForceCommand ")
          .append(folder.resolve(host).resolve("enter"))
          .append('\n');
    }
    Files.writeString(folder.resolve("sshd.conf"), config.append(matches));
    server =
        new ProcessBuilder(SSHD.toString(), "-D", "-e", "-f", folder + "/sshd.conf")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("sshd.log").toFile())
            .start();
    until(() -> listens() || !server.isAlive());
    assertThat(server.isAlive()).as(Files.readString(folder.resolve("sshd.log"))).isTrue();
  }

  private int port(String host) {
    return ports.get(host.equals("one") ? 1 : 2);
  }

  /** Adds the public key of a file to those that a host is known by. */
  void know(String host, String key) throws IOException {
    String line =
        "[127.0.0.1]:" + port(host) + " " + Files.readString(folder.resolve(key + ".pub"));
    Path known = folder.resolve("known-" + host);
    Files.writeString(known, line);
  }

  private boolean listens() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port("two"))) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  /** Waits until something is so. */
  static void until(Condition condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.isMet()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      Thread.sleep(20);
    }
  }

  /** What a test waits for. */
  interface Condition {
    boolean isMet() throws Exception;
  }

  /** What a session of a host runs. */
  void enter(String host, String script) throws IOException {
    Path enter = folder.resolve(host).resolve("enter");
    String variables = "export GRAFT_STATE_DIR=" + state(host) + " PATH=" + System.getenv("PATH");
    Files.writeString(enter, "#!/bin/sh\n" + variables + "\n" + script + "\n");
    Files.setPosixFilePermissions(enter, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  Path state(String host) {
    return folder.resolve(host).resolve("state");
  }

  Path journal(String host) {
    return state(host).resolve("cluster/journal.jsonl");
  }

  /** The operator's record. */
  Path record() {
    return folder.resolve("operator/.operated/cluster/hosts.json");
  }

  /**
   * Writes the descriptor.
   *
   * @param keys the files with the key for each host
   * @param programs where each host has its programs
   */
  String descriptor(String policy, List<String> keys, List<Path> programs) throws IOException {
    Path file = folder.resolve("cluster.yaml");
    Files.writeString(
        file,
        """
        graft: 1
        on-failure: %1$s
        hosts:
        - {name: one, ssh: root@127.0.0.1, port: %4$d, key: %2$s/%3$s, known-hosts: %2$s/known-one, folder: %9$s}
        - {name: two, ssh: root@127.0.0.1, port: %5$d, key: %2$s/%8$s, known-hosts: %2$s/known-two, folder: %10$s}
        gpus:
        - {name: gpu-a, host: one, device: software, server: {port: %6$d}}
        guests:
        - name: vm
          host: two
          existing: {ssh: root@127.0.0.1, port: %7$d, key: %2$s/key, known-hosts: %2$s/known-hosts}
          vgpu: gpu-a
          ready: {verify: false}
        """
            .formatted(
                policy,
                folder,
                keys.get(0),
                port("one"),
                port("two"),
                ports.get(3),
                ports.get(0),
                keys.get(1),
                programs.get(0),
                programs.get(1)));
    return file.toString();
  }

  /** Mounts a small file system. */
  void mount(Path path, String size) throws Exception {
    Files.createDirectories(path);
    done("mount", "-t", "tmpfs", "-o", "mode=755,size=" + size, "none", path.toString());
    mounts.add(path);
  }

  /** Gives such a file system another size. */
  void resize(Path path, String size) throws Exception {
    done("mount", "-o", "remount,size=" + size, path.toString());
  }

  /** Fills the rest of the file system that has a folder. */
  static Path fill(Path folder) throws IOException {
    Path filler = folder.resolve("filler");
    try (var out = Files.newOutputStream(filler)) {
      byte[] much = new byte[1 << 12];
      while (true) {
        out.write(much);
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left");
      return filler;
    }
  }

  /** Starts the operator's Graft. */
  Process start(String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command(arguments)).directory(folder.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment(folder.resolve("operator")));
    return builder
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("operator.log").toFile())
        .start();
  }

  /** Runs the operator's Graft. */
  Finished run(String... arguments) throws Exception {
    return run(folder.resolve("operator"), arguments);
  }

  private Finished run(Path state, String... arguments) throws Exception {
    return Finished.run(folder, environment(state), command(arguments), Duration.ofMinutes(2));
  }

  private static Map<String, String> environment(Path state) {
    return Map.of("PATH", System.getenv("PATH"), "GRAFT_STATE_DIR", state.toString());
  }

  private static List<String> command(String... arguments) {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME + "/bin/graft"));
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * Runs the operator's Graft, which has to end with this exit code, and returns all it printed.
   */
  String ends(int code, String... arguments) throws Exception {
    Finished finished = run(arguments);
    String all = finished.out() + finished.err();
    assertThat(finished.code()).as(all).isEqualTo(code);
    return all;
  }

  private void done(String... command) throws Exception {
    Finished finished =
        Finished.run(folder, Map.of("PATH", System.getenv("PATH")), List.of(command));
    assertThat(finished.code()).as(finished.err()).isZero();
  }

  /** Ends what a failed test has left, and the SSH server. */
  void end() throws Exception {
    for (String host : List.of("two", "one")) {
      if (Files.exists(state(host).resolve("cluster"))) {
        run(state(host), "destroy", "cluster");
      }
    }
    server.destroy();
    server.waitFor();
    for (Path mount : mounts) {
      done("umount", "-l", mount.toString());
    }
  }
}
