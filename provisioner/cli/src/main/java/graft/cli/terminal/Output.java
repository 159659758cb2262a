package graft.cli.terminal;

import graft.common.json.Json;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
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

  /**
   * The version of the fields of all commands' JSON. It rises when a field is removed or changes
   * its meaning, not when one is added.
   */
  private static final int FORMAT_VERSION = 1;

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

  /**
   * Prints the result as JSON, unless the output is text: an object with the version of the fields.
   */
  public void result(Map<String, ?> tree) {
    if (isJson()) {
      print(Json.pretty(withVersion(tree)));
    }
  }

  /** The same on one line. */
  public void resultLine(Map<String, ?> tree) {
    if (isJson()) {
      print(Json.line(withVersion(tree)));
    }
  }

  /** Prints JSON whose fields another program defines. */
  public void foreignResult(Map<String, ?> tree) {
    if (isJson()) {
      print(Json.pretty(tree));
    }
  }

  private void print(String json) {
    out().println(json);
    out().flush();
  }

  /** Puts the version of the fields before them. */
  public static Map<String, Object> withVersion(Map<String, ?> tree) {
    Map<String, Object> versioned = new LinkedHashMap<>();
    versioned.put("formatVersion", FORMAT_VERSION);
    versioned.putAll(tree);
    return versioned;
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
