package graft.cli.terminal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/** A question to a person at a terminal. */
public final class Question {
  private Question() {}

  /** One reader for all questions: it may have read the answer to the next one. */
  private static final class Answers {
    static final BufferedReader LINES =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
  }

  /** Whether both standard input and standard output are a terminal. */
  public static boolean canBeAsked() {
    return isTerminal(0) && isTerminal(1);
  }

  /** Since Java 22 there is a {@link System#console} without a terminal too. */
  public static boolean isTerminal(int descriptor) {
    try {
      String file = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return file.startsWith("/dev/pts/")
          || file.startsWith("/dev/tty")
          || file.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }

  /** Prints the question and returns the answer, which is empty at the end of the input. */
  public static String ask(Output output, String question) throws IOException {
    output.out().print(question);
    output.out().flush();
    String answer = Answers.LINES.readLine();
    return answer == null ? "" : answer.strip();
  }
}
