package graft.comparison.bench;

import graft.comparison.local.ProgramEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How a program ran.
 *
 * @param exit its exit code; {@link #TIMED_OUT} if it was ended, {@link #NOT_RUN} if it did not
 *     start
 * @param output what it wrote to its standard output
 * @param errors what it wrote to its standard error
 */
public record ProgramRun(int exit, String output, String errors) {
  public static final int TIMED_OUT = -1;
  public static final int NOT_RUN = -2;

  /** What is kept of an output; a program that writes more is one to look at by itself. */
  private static final int KEPT = 16 << 20;

  /** Runs a program to its end or for as long as it may; its children end with it then. */
  public static ProgramRun of(
      List<String> command, Path folder, ProgramEnvironment way, Duration limit)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("graft-output", ".txt");
    Path errors = Files.createTempFile("graft-errors", ".txt");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile());
      way.applyTo(builder.environment());
      Process process;
      try {
        process = builder.start();
      } catch (IOException e) {
        return new ProgramRun(NOT_RUN, "", e.getMessage());
      }
      int exit = TIMED_OUT;
      try {
        if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
          exit = process.exitValue();
        }
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
      return new ProgramRun(exit, text(output), text(errors));
    } finally {
      Files.deleteIfExists(output);
      Files.deleteIfExists(errors);
    }
  }

  private static String text(Path file) throws IOException {
    try (var in = Files.newInputStream(file)) {
      return new String(in.readNBytes(KEPT), StandardCharsets.UTF_8);
    }
  }

  public boolean passed() {
    return exit == 0;
  }

  /** How it ended, for people. */
  public String ending() {
    return switch (exit) {
      case 0 -> "passed";
      case TIMED_OUT -> "timed out";
      case NOT_RUN -> "did not start";
      default -> "exit code " + exit;
    };
  }

  /** The last line that it wrote to its standard error, or its output; empty if none. */
  public String lastWords() {
    String said = errors.isBlank() ? output : errors;
    List<String> lines = said.lines().filter(line -> !line.isBlank()).toList();
    return lines.isEmpty() ? "" : lines.get(lines.size() - 1).strip();
  }
}
