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

  /** Prints the result as JSON on one line, unless the output is text. */
  public void resultLine(Object tree) {
    if (isJson()) {
      out().println(Json.line(tree));
      out().flush();
    }
  }

  /** Clears the terminal, if standard output is one. */
  public void clearScreen() {
    if (!isJson() && Question.isTerminal(1)) {
      command.commandLine().getOut().print("\u001b[H\u001b[2J");
      command.commandLine().getOut().flush();
    }
  }

  public PrintWriter out() {
    return TerminalWriter.over(command.commandLine().getOut());
  }

  public PrintWriter err() {
    return TerminalWriter.over(command.commandLine().getErr());
  }
}
