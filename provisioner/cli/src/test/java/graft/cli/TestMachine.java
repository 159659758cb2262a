package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.CurrentUser;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A small Linux system in a folder, which a real SSH server on a loopback port leads into. */
final class TestMachine {
  private static final Path SSHD = Path.of("/usr/sbin/sshd");
  private static final Path TEMPLATE = Path.of("target/machine").toAbsolutePath();
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Path folder;
  private final int port;
  private Process server;

  /** Makes the system and starts its SSH server. */
  TestMachine(Path folder) throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can enter another root folder");
    assumeTrue(Files.isExecutable(SSHD), "no openssh-server here");
    this.folder = Files.createDirectories(folder);
    this.port = freePort();
    Process made =
        new ProcessBuilder(
                resource("/make-machine").toString(),
                folder.toString(),
                String.valueOf(port),
                TEMPLATE.toString())
            .inheritIO()
            .start();
    assertThat(made.waitFor()).as("make-machine").isZero();
    start();
  }

  static Path resource(String name) throws Exception {
    return Path.of(TestMachine.class.getResource(name).toURI());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  void start() throws Exception {
    server =
        new ProcessBuilder(
                SSHD.toString(), "-D", "-e", "-f", folder.resolve("sshd.conf").toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("sshd.log").toFile())
            .start();
    long deadline = System.nanoTime() + PATIENCE_NANOS;
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

  /** The machine is off. */
  void stop() throws InterruptedException {
    server.destroy();
    server.waitFor();
  }

  int port() {
    return port;
  }

  Path file(String path) {
    return folder.resolve("root" + path);
  }

  Path key(String name) {
    return folder.resolve(name);
  }

  Path knownHosts() {
    return folder.resolve("known-hosts");
  }

  /** The machine answers by this instead of its own program. */
  void program(String name, String script) throws IOException {
    write("/usr/local/bin/" + name, "#!/bin/sh\n" + script + "\n", "rwxr-xr-x");
  }

  void write(String path, String text, String mode) throws IOException {
    Path file = file(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  /** What every session mounts before it enters the machine: a shell script, with {@code $root}. */
  void mounts(String script) throws IOException {
    Files.writeString(
        folder.resolve("mounts"), "root=" + folder.resolve("root") + "\nset -e\n" + script + "\n");
  }

  /** Every file, folder and link: its kind, mode, owner, size, time and checksum. */
  Map<String, String> sum() throws Exception {
    Map<String, String> sums = new TreeMap<>();
    Path root = folder.resolve("root");
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : all.toList()) {
        String name = "/" + root.relativize(path);
        if (!name.startsWith("/dev")) {
          sums.put(name, describe(path));
        }
      }
    }
    return sums;
  }

  private static String describe(Path path) throws Exception {
    Map<String, Object> facts =
        Files.readAttributes(
            path, "unix:mode,uid,gid,size,lastModifiedTime", LinkOption.NOFOLLOW_LINKS);
    String owner = facts.get("mode") + " " + facts.get("uid") + ":" + facts.get("gid") + " ";
    if (Files.isSymbolicLink(path)) {
      return owner + "-> " + Files.readSymbolicLink(path);
    } else if (Files.isDirectory(path)) {
      return owner + "folder";
    }
    byte[] sum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(path));
    return owner
        + facts.get("size")
        + " "
        + facts.get("lastModifiedTime")
        + " "
        + HexFormat.of().formatHex(sum);
  }

  String log() throws IOException {
    return Files.readString(folder.resolve("sshd.log"), StandardCharsets.UTF_8);
  }
}
