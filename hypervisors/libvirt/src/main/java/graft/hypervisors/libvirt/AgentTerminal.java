package graft.hypervisors.libvirt;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The terminal on which a program runs in a guest: a pseudo-terminal of script(1), as the agent
 * itself has none.
 *
 * @param type what {@code TERM} is in the guest
 * @param size asks how large the caller's window is now
 */
public record AgentTerminal(String type, Supplier<TerminalSize> size) {
  /**
   * Runs a command line on a terminal of its own. Arguments: the folder, {@code TERM}, the rows,
   * the columns, the command line. Not every script(1) passes on the exit code: a file has it. The
   * shell that writes it is among the processes that Ctrl-C reaches, and must outlive the program.
   */
  private static final String RUN =
      "command -v script >/dev/null || { printf '%s\\r\\n' \"a terminal needs script(1) in the"
          + " guest; install it there (Debian: bsdutils; others: util-linux), or leave out -t\" >&2;"
          + " exit 125; };"
          + " export GRAFT_EXEC=\"$1\" TERM=\"$2\" SHELL=/bin/sh;"
          + " script -q -c \"trap : INT QUIT; stty rows $3 cols $4; tty >\\\"\\$GRAFT_EXEC/tty\\\";"
          + " ( unset GRAFT_EXEC; exec $5 ); echo \\$? >\\\"\\$GRAFT_EXEC/code\\\"\" /dev/null;"
          + " exit \"$(cat \"$1/code\" 2>/dev/null || echo 129)\"";

  /** Arguments: the folder, the rows, the columns. The kernel tells the programs there. */
  private static final String RESIZE =
      "t=$(cat \"$1/tty\" 2>/dev/null) && stty rows \"$2\" cols \"$3\" <\"$t\"";

  public AgentTerminal {
    if (!type.matches("[A-Za-z0-9+._-]{1,64}")) {
      throw new IllegalArgumentException("no terminal is of the type '" + type + "'");
    }
  }

  /** The words that run a program on a terminal of this size. */
  List<String> words(String folder, TerminalSize now, List<String> program) {
    String line = program.stream().map(AgentTerminal::quoted).collect(Collectors.joining(" "));
    List<String> words = new ArrayList<>(List.of("/bin/sh", "-c", RUN, "sh", folder, type));
    words.addAll(List.of(String.valueOf(now.rows()), String.valueOf(now.columns()), line));
    return words;
  }

  /** What gives the terminal another size. */
  static AgentCommand resize(String folder, TerminalSize to) {
    String rows = String.valueOf(to.rows());
    String columns = String.valueOf(to.columns());
    return AgentCommand.of("/bin/sh", "-c", RESIZE, "sh", folder, rows, columns);
  }

  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
