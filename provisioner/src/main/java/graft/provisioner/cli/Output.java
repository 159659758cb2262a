package graft.provisioner.cli;

import graft.provisioner.json.Json;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that every command has, and where its output goes. */
final class Output {
  /** The forms of output. */
  enum Format {
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
      description = "Log what is done to standard error; -vv logs more.")
  void verbose(boolean[] times) {
    Logging.verbosity(times.length);
  }

  @Spec(Spec.Target.MIXEE)
  CommandSpec command;

  private boolean silent;

  /** An output that shows progress and errors, and neither text nor results. */
  static Output silent(Output like) {
    Output output = new Output();
    output.format = Format.text;
    output.command = like.command;
    output.silent = true;
    return output;
  }

  boolean isJson() {
    return format == Format.json;
  }

  /** Prints a line for people; nothing if the output is for programs. */
  void say(String text) {
    if (!isJson() && !silent) {
      out().println(text);
      out().flush();
    }
  }

  /** Prints the result for programs; nothing if the output is for people. */
  void result(Object tree) {
    if (isJson()) {
      out().println(Json.pretty(tree));
      out().flush();
    }
  }

  PrintWriter out() {
    return TerminalWriter.over(command.commandLine().getOut());
  }

  PrintWriter err() {
    return TerminalWriter.over(command.commandLine().getErr());
  }
}
