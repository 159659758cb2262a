package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A program that ran to its end.
 *
 * @param code the exit code
 * @param out the program's standard output
 * @param err the program's standard error
 */
record Finished(int code, String out, String err) {

  /** Runs a program with only these environment variables, with a limit of one minute. */
  static Finished run(Path folder, Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    return run(folder, environment, command, Duration.ofMinutes(1));
  }

  /** Runs a program with only these environment variables and this time limit. */
  static Finished run(
      Path folder, Map<String, String> environment, List<String> command, Duration limit)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile("graft", ".out");
    Path err = Files.createTempFile("graft", ".err");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      builder.environment().clear();
      builder.environment().putAll(environment);
      Process process = builder.start();
      try {
        assertThat(process.waitFor(limit.toSeconds(), TimeUnit.SECONDS))
            .as("%s ended", command)
            .isTrue();
      } finally {
        process.destroyForcibly();
      }
      return new Finished(process.exitValue(), read(out), read(err));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}
