package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Runs graft as users do: as a process, with a state folder and a client of the test's own. */
final class GraftProcess {
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
    return runMain(Main.class, arguments);
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
        new ProcessBuilder("script", "-q", "-e", "-c", line, "/dev/null")
            .redirectInput(keys.toFile()));
  }

  /** As {@link #run}, with this input. */
  Ended withInput(String input, String... arguments) throws Exception {
    Path keys = Files.writeString(folder.resolve("keys"), input);
    return run(new ProcessBuilder(command(Main.class, arguments)).redirectInput(keys.toFile()));
  }

  /** As {@link #run}, with another main class. */
  Ended runMain(Class<?> main, String... arguments) throws Exception {
    return run(new ProcessBuilder(command(main, arguments)));
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

  private Ended run(ProcessBuilder builder) throws Exception {
    // Files, not pipes: a server that is started keeps what it inherits.
    Path out = folder.resolve("out-" + count);
    Path err = folder.resolve("err-" + count++);
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    builder.environment().put("GRAFT_CLIENT_DIR", folder.resolve("client").toString());
    Process process = builder.start();
    try {
      assertThat(process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), read(out), read(err));
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}
