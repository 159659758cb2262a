package graft.cli;

import graft.cli.terminal.ExitCode;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Reports an invalid command line in two lines instead of the whole usage page, and as JSON if that
 * was asked for.
 */
final class UsageErrors implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException e, String[] args) {
    CommandLine line = e.getCommandLine();
    PrintWriter err = line.getErr();
    err.println(line.getCommandName() + ": " + e.getMessage());
    List<String> suggestions =
        e instanceof UnmatchedArgumentException unmatched ? unmatched.getSuggestions() : List.of();
    if (suggestions.isEmpty()) {
      err.println("Try '" + line.getCommandSpec().qualifiedName() + " --help'.");
    } else {
      err.println("Did you mean " + String.join(" or ", suggestions) + "?");
    }
    err.flush();
    if (wantsJson(args)) {
      Errors.print(line, e.getMessage(), ExitCode.USAGE, List.of());
    }
    return ExitCode.USAGE;
  }

  /** Words that could not be parsed are looked through, up to those of another program. */
  private static boolean wantsJson(String... words) {
    String before = "";
    for (String word : words) {
      if (word.equals("--")) {
        return false;
      }
      boolean isForm = word.equals("json") && (before.equals("--output") || before.equals("-o"));
      if (isForm || word.equals("--output=json") || word.matches("-o=?json")) {
        return true;
      }
      before = word;
    }
    return false;
  }
}
