package graft.cli.terminal;

import graft.common.json.Json;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that every command has, and the streams to which it prints. */
public final class Output {
  /** The forms of output. */
  public enum Format {
    text,
    json
  }

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORM",
      defaultValue = "text",
      description = "text for people or json for programs (default: ${DEFAULT-VALUE}).")
  Format format;

  @Option(
      names = {"-v", "--verbose"},
      description = "Log to standard error; -vv logs more.")
  void verbose(boolean[] times) {
    Logging.verbosity(times.length);
  }

  @Spec(Spec.Target.MIXEE)
  CommandSpec command;

  public boolean isJson() {
    return format == Format.json;
  }

  /** Prints a line of text, unless the output is JSON. */
  public void say(String text) {
    if (!isJson()) {
      out().println(text);
      out().flush();
    }
  }

  /** Prints the result as JSON, unless the output is text. */
  public void result(Object tree) {
    if (isJson()) {
      out().println(Json.pretty(tree));
      out().flush();
    }
  }

  public PrintWriter out() {
    return TerminalWriter.over(command.commandLine().getOut());
  }

  public PrintWriter err() {
    return TerminalWriter.over(command.commandLine().getErr());
  }
}
