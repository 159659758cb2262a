package graft.deployment.step.host;

import graft.common.program.HostProgram;
import graft.deployment.step.StepFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** Runs administrators' programs of this host. */
final class Commands {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private Commands() {}

  /**
   * Runs a program.
   *
   * @throws StepFailure if it fails, with what it printed
   */
  static void run(String program, List<String> arguments, String fix) throws IOException {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    int status = run(program, arguments, printed);
    if (status != 0) {
      throw new StepFailure(
          program
              + " "
              + String.join(" ", arguments)
              + " ended with status "
              + status
              + ": "
              + printed.toString(StandardCharsets.UTF_8).strip(),
          fix);
    }
  }

  /** Runs a program, and returns its exit status. */
  static int status(String program, List<String> arguments) throws IOException {
    return run(program, arguments, OutputStream.nullOutputStream());
  }

  /** Runs a program, and returns what it has printed, whether it failed or not. */
  static String output(String program, List<String> arguments) throws IOException {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    run(program, arguments, printed);
    return printed.toString(StandardCharsets.UTF_8);
  }

  private static int run(String program, List<String> arguments, OutputStream printed)
      throws IOException {
    return HostProgram.of(program, arguments)
        .run(LIMIT, InputStream.nullInputStream(), printed, printed)
        .code();
  }
}
