package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

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

  /** As {@link #run}, with another main class. */
  Ended runMain(Class<?> main, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    // Files, not pipes: a server that is started keeps what it inherits.
    Path out = folder.resolve("out-" + count);
    Path err = folder.resolve("err-" + count++);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
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
