package graft.provisioner.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Runs command after command in one process, since starting Java takes longer than most of them:
 * each line of the input is a file for the output, one for the errors and the arguments, with tabs
 * between; each line of the output is an exit code.
 */
final class ResidentMain {
  private ResidentMain() {}

  public static void main(String[] args) throws IOException {
    Logging.quiet();
    PrintStream answers = System.out;
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] parts = line.split("\t");
      try (PrintStream out = new PrintStream(parts[0], StandardCharsets.UTF_8);
          PrintStream err = new PrintStream(parts[1], StandardCharsets.UTF_8)) {
        System.setOut(out);
        System.setErr(err);
        answers.println(Main.run(Arrays.copyOfRange(parts, 2, parts.length)));
      }
    }
  }
}
