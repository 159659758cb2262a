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
 * A machine that exists already and hosts of a deployment, on this machine: an SSH server with a
 * port for each. Each host has a state folder of its own, {@code HOST/state}.
 */
final class SshHosts {
  private static final Path SSHD = Path.of("/usr/sbin/sshd");
  private static final Path MAKE =
      Checkout.ROOT.resolve("provisioner/cli/src/test/resources/make-machine");
  private static final Path TEMPLATE = Path.of("target/machine").toAbsolutePath();
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** What a session of a host runs if it is to run what the operator says. */
  static final String WORKS = "exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"";

  private final Path folder;
  private final String deployment;
  private final List<String> names;
  private final List<Integer> ports = new ArrayList<>();
  private final List<Path> mounts = new ArrayList<>();
  private final Process server;

  /**
   * Starts the SSH server.
   *
   * @param folder an empty one
   * @param names of the hosts, those first whose GPUs others use
   */
  SshHosts(Path folder, String deployment, String... names) throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can enter another root folder");
    assumeTrue(Files.isExecutable(SSHD), "no openssh-server here");
    this.folder = folder;
    this.deployment = deployment;
    this.names = List.of(names);
    for (int i = 0; i <= names.length; i++) {
      ports.add(freePort());
    }
    String port = String.valueOf(machinePort());
    done(MAKE.toString(), folder.toString(), port, TEMPLATE.toString());
    String sshd = Files.readString(folder.resolve("sshd.conf"));
    String machine = sshd.substring(sshd.indexOf("ForceCommand"));
    StringBuilder config = new StringBuilder(sshd.replace(machine, "MaxStartups 100\n"));
    StringBuilder matches = new StringBuilder("Match LocalPort " + machinePort() + "\n" + machine);
    for (String host : names) {
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

  /** A port that no program uses now. */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  int machinePort() {
    return ports.get(0);
  }

  int port(String host) {
    return ports.get(1 + names.indexOf(host));
  }

  /** The file with the keys that a host is known by. */
  Path known(String host) {
    return folder.resolve("known-" + host);
  }

  /** Replaces the keys that a host is known by, by the public key of a file. */
  void know(String host, String key) throws IOException {
    String line =
        "[127.0.0.1]:" + port(host) + " " + Files.readString(folder.resolve(key + ".pub"));
    Files.writeString(known(host), line);
  }

  private boolean listens() {
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), ports.get(ports.size() - 1))) {
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
    return state(host).resolve(deployment).resolve("journal.jsonl");
  }

  /** The operator's record. */
  Path record() {
    return operator().resolve(".operated").resolve(deployment).resolve("hosts.json");
  }

  /** The state folder of the operator's Graft. */
  Path operator() {
    return folder.resolve("operator");
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
    builder.environment().putAll(environment(operator()));
    return builder
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("operator.log").toFile())
        .start();
  }

  /** Runs the operator's Graft. */
  Finished run(String... arguments) throws Exception {
    return run(operator(), arguments);
  }

  /** Runs a host's Graft. */
  Finished runOn(String host, String... arguments) throws Exception {
    return run(state(host), arguments);
  }

  private Finished run(Path state, String... arguments) throws Exception {
    return Finished.run(folder, environment(state), command(arguments), Duration.ofMinutes(3));
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

  /** Runs the operator's Graft, which has to succeed, and returns what it printed as its result. */
  String said(String... arguments) throws Exception {
    Finished finished = run(arguments);
    assertThat(finished.code()).as(finished.out() + finished.err()).isZero();
    return finished.out();
  }

  private void done(String... command) throws Exception {
    Finished finished =
        Finished.run(folder, Map.of("PATH", System.getenv("PATH")), List.of(command));
    assertThat(finished.code()).as(finished.err()).isZero();
  }

  /** Ends what a failed test has left, and the SSH server. */
  void end() throws Exception {
    for (int i = names.size() - 1; i >= 0; i--) {
      if (Files.exists(state(names.get(i)).resolve(deployment))) {
        runOn(names.get(i), "destroy", deployment);
      }
    }
    server.destroy();
    server.waitFor();
    for (Path mount : mounts) {
      done("umount", "-l", mount.toString());
    }
  }
}
