package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Runs graft outside the test's process, with a state folder and a client of the test's own. The
 * commands without input or a terminal share one process, see {@link GraftLoop}; its standard
 * output and error are files, which a command and the programs that it starts append to.
 */
final class GraftProcess implements AutoCloseable {
  /** How a command ended. */
  record Ended(int code, String out, String err) {
    Ended as(int expected) {
      assertThat(code).as("exit code; it said:\n%s\n%s", out, err).isEqualTo(expected);
      return this;
    }
  }

  private static final int TIMEOUT_MINUTES = 5;

  private final Path folder;
  private int count;
  private Process loop;
  private SocketChannel socket;

  /** Graft with its state, its client and its output in a folder. */
  GraftProcess(Path folder) throws IOException {
    this.folder = folder;
    Files.createDirectories(folder.resolve("client"));
    for (String name :
        List.of("libcuda.so.1", "libnvidia-ml.so.1", "graft-verify", "graft-oci-hook")) {
      Files.writeString(folder.resolve("client").resolve(name), "no real library");
    }
  }

  Path state(String deployment) {
    return folder.resolve("state").resolve(deployment);
  }

  Ended run(String... arguments) throws Exception {
    if (loop == null) {
      startLoop();
    }
    long said = Files.size(loopFile("out"));
    long complained = Files.size(loopFile("err"));
    CompletableFuture<Void> late =
        CompletableFuture.runAsync(
            loop::destroyForcibly,
            CompletableFuture.delayedExecutor(TIMEOUT_MINUTES, TimeUnit.MINUTES));
    try {
      DataOutputStream out = new DataOutputStream(Channels.newOutputStream(socket));
      out.writeInt(arguments.length);
      for (String argument : arguments) {
        out.writeUTF(argument);
      }
      int code = new DataInputStream(Channels.newInputStream(socket)).readInt();
      return new Ended(code, after(said, loopFile("out")), after(complained, loopFile("err")));
    } catch (EOFException e) {
      throw new AssertionError("graft ended; it said:\n" + read(loopFile("err")), e);
    } finally {
      late.cancel(false);
    }
  }

  private void startLoop() throws IOException {
    Path meeting = folder.resolve("loop.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(meeting));
      loop =
          builder(command(GraftLoop.class, meeting.toString()))
              .redirectOutput(Redirect.appendTo(loopFile("out").toFile()))
              .redirectError(Redirect.appendTo(loopFile("err").toFile()))
              .start();
      CompletableFuture<Void> ended = loop.onExit().thenAccept(process -> close(server));
      socket = server.accept();
      ended.cancel(false);
    }
  }

  private static void close(ServerSocketChannel server) {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path loopFile(String name) {
    return folder.resolve("loop-" + name);
  }

  @Override
  public void close() throws IOException {
    if (loop != null) {
      socket.close();
      loop.onExit().join();
      loop = null;
    }
  }

  /**
   * As {@link #run}, on a terminal of 33 rows and 111 columns that script(1) makes. What the
   * terminal shows is the output.
   *
   * @param typed what is typed there; then the terminal's input ends
   */
  Ended onTerminal(String typed, String... arguments) throws Exception {
    String line =
        command(Main.class, arguments).stream()
            .map(word -> "'" + word.replace("'", "'\\''") + "'")
            .collect(Collectors.joining(" ", "stty rows 33 cols 111; exec ", ""));
    Path keys = Files.writeString(folder.resolve("keys"), typed);
    return run(
        builder(List.of("script", "-q", "-e", "-c", line, "/dev/null"))
            .redirectInput(keys.toFile()));
  }

  /** As {@link #run}, with this input. */
  Ended withInput(String input, String... arguments) throws Exception {
    Path keys = Files.writeString(folder.resolve("keys"), input);
    return run(builder(command(Main.class, arguments)).redirectInput(keys.toFile()));
  }

  /** Runs another main class in a process of its own. */
  Ended runMain(Class<?> main, String... arguments) throws Exception {
    return run(builder(command(main, arguments)));
  }

  private static List<String> command(Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Assertions check that the JSON has the form of its schema.
    command.addAll(List.of("-ea", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  private ProcessBuilder builder(List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    builder.environment().put("GRAFT_CLIENT_DIR", folder.resolve("client").toString());
    return builder;
  }

  private Ended run(ProcessBuilder builder) throws Exception {
    // Files, not pipes: a server that is started keeps what it inherits.
    Path out = folder.resolve("out-" + count);
    Path err = folder.resolve("err-" + count++);
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    Process process = builder.start();
    try {
      assertThat(process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), read(out), read(err));
  }

  private static String after(long start, Path file) throws IOException {
    byte[] all = Files.readAllBytes(file);
    return new String(all, (int) start, all.length - (int) start, StandardCharsets.UTF_8);
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}
