package graft.cli.guest;

import graft.cli.terminal.Interruption;
import graft.cli.terminal.Output;
import graft.cli.terminal.Question;
import graft.common.GraftException;
import graft.deployment.AppliedGuest;
import graft.deployment.observe.Connections;
import graft.guests.connection.LocalTerminal;
import graft.guests.connection.TerminalSession;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Runs a program on a terminal in a guest, joined to the caller's terminal. */
final class TerminalInGuest {
  private static final Duration NO_LIMIT = Duration.ofDays(36500);

  private TerminalInGuest() {}

  /**
   * Checks that a terminal can be had.
   *
   * @throws ParameterException if the output is to be JSON, which a terminal's is not
   * @throws GraftException if the caller has no terminal
   */
  static void check(CommandLine line, Output output) {
    if (output.isJson()) {
      throw new ParameterException(line, "a terminal has no JSON: --output json needs no -t");
    }
    if (!Question.canBeAsked()) {
      throw new GraftException(
          "the input device is not a TTY, or the output is none",
          "a terminal in a guest needs one here; in scripts use graft exec without -t, with -i for"
              + " the standard input");
    }
  }

  /** Runs the program, without a limit of time, and returns its exit code. */
  static int run(AppliedGuest guest, List<String> words) throws Exception {
    return run(guest, words, NO_LIMIT);
  }

  /** Runs the program and returns its exit code. */
  static int run(AppliedGuest guest, List<String> words, Duration limit) throws Exception {
    try (Connections connections = new Connections();
        LocalTerminal terminal = LocalTerminal.open()) {
      TerminalSession session = guest.open(connections).start(words, terminal);
      return Interruption.during(session::stop, () -> session.await(limit));
    }
  }
}
