package graft.cli;

import graft.cli.terminal.ExitCode;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Reports an invalid command line in two lines instead of the whole usage page. */
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
    return ExitCode.USAGE;
  }
}
