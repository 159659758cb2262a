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
 * One run of a program.
 *
 * @param exit the exit code; {@link #TIMED_OUT} if the program was killed at the time limit, {@link
 *     #NOT_RUN} if it did not start
 * @param output the program's standard output
 * @param errors the program's standard error
 * @param seconds how long the program ran
 */
public record ProgramRun(int exit, String output, String errors, double seconds) {
  public static final int TIMED_OUT = -1;
  public static final int NOT_RUN = -2;

  /**
   * The most bytes that are kept of an output. A program that writes more has to be examined
   * separately.
   */
  private static final int KEPT = 16 << 20;

  /**
   * Runs a program to its end or its time limit, at which the program and its children are killed.
   */
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
      long start = System.nanoTime();
      try {
        process = builder.start();
      } catch (IOException e) {
        return new ProgramRun(NOT_RUN, "", e.getMessage(), 0);
      }
      int exit = TIMED_OUT;
      double seconds;
      try {
        if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
          exit = process.exitValue();
        }
        seconds = (System.nanoTime() - start) / 1e9;
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
      return new ProgramRun(exit, text(output), text(errors), seconds);
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

  /** How the program ended, as text. */
  public String ending() {
    return switch (exit) {
      case 0 -> "passed";
      case TIMED_OUT -> "timed out";
      case NOT_RUN -> "did not start";
      default -> "exit code " + exit;
    };
  }

  /**
   * The last line of standard error or, without one, of standard output; empty if both are empty.
   */
  public String lastWords() {
    String said = errors.isBlank() ? output : errors;
    List<String> lines = said.lines().filter(line -> !line.isBlank()).toList();
    return lines.isEmpty() ? "" : lines.get(lines.size() - 1).strip();
  }
}
