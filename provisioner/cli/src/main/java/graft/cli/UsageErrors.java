package graft.cli;

import graft.cli.terminal.ExitCode;
import graft.common.bind.Spelling;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Reports an invalid command line in two lines instead of the whole usage page, and as JSON if that
 * was asked for.
 */
final class UsageErrors implements IParameterExceptionHandler {
  /** What {@code graft help WORD} says. */
  private static final Pattern UNKNOWN_COMMAND = Pattern.compile("Unknown subcommand '(.*)'.");

  @Override
  public int handleParseException(ParameterException e, String[] args) {
    CommandLine line = e.getCommandLine();
    PrintWriter err = line.getErr();
    err.println(line.getCommandName() + ": " + e.getMessage());
    err.println(
        suggestion(e)
            .map(word -> "Did you mean " + word + "?")
            .orElse("Try '" + line.getCommandSpec().qualifiedName() + " --help'."));
    err.flush();
    if (wantsJson(args)) {
      Errors.print(line, e.getMessage(), ExitCode.USAGE, List.of());
    }
    return ExitCode.USAGE;
  }

  /** The command or option that the user probably meant. */
  private static Optional<String> suggestion(ParameterException e) {
    CommandLine line = e.getCommandLine();
    Matcher help = UNKNOWN_COMMAND.matcher(e.getMessage());
    if (help.matches()) {
      return Spelling.nearest(help.group(1), line.getSubcommands().keySet());
    }
    if (!(e instanceof UnmatchedArgumentException unmatched)
        || unmatched.getUnmatched().isEmpty()) {
      return Optional.empty();
    }
    String word = unmatched.getUnmatched().get(0);
    return word.startsWith("-")
        ? unmatched.getSuggestions().stream().findFirst()
        : Spelling.nearest(word, line.getSubcommands().keySet());
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
