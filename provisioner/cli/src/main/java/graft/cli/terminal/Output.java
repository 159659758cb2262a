package graft.cli.terminal;

import graft.common.json.Json;
import graft.common.json.RecordSchema;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  private static final String VERSION = "formatVersion";

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

  /** Prints the text of a plan, in colour at a terminal, unless the output is JSON. */
  public void sayPlan(String text) {
    if (isJson() || !PlanColours.areWanted(Question.isTerminal(1), System.getenv())) {
      say(text);
      return;
    }
    PrintWriter terminal = command.commandLine().getOut();
    terminal.println(PlanColours.paint(GuestText.printable(text)));
    terminal.flush();
  }

  /**
   * Prints the result as JSON, unless the output is text: an object with the version of the fields.
   */
  public void result(Map<String, ?> tree) {
    assert hasItsForm(tree);
    if (isJson()) {
      print(Json.pretty(withVersion(tree)));
    }
  }

  /** The same on one line. */
  public void resultLine(Map<String, ?> tree) {
    assert hasItsForm(tree);
    if (isJson()) {
      print(Json.line(withVersion(tree)));
    }
  }

  /** Whether the tree has one of the forms that the command declares. */
  private boolean hasItsForm(Map<String, ?> tree) {
    Prints declared = command.userObject().getClass().getAnnotation(Prints.class);
    if (declared == null) {
      return true;
    }
    List<String> problems = new ArrayList<>();
    for (Class<? extends Record> form : declared.value()) {
      List<String> found = RecordSchema.problems(form, tree);
      if (found.isEmpty()) {
        return true;
      }
      problems.addAll(found);
    }
    throw new AssertionError(command.qualifiedName() + " prints what no schema has: " + problems);
  }

  /**
   * The JSON Schema of what a command prints as JSON; empty if it declares none.
   *
   * @param command the object of the command
   */
  public static Optional<Map<String, Object>> schema(String title, Object command) {
    return Optional.ofNullable(command.getClass().getAnnotation(Prints.class))
        .map(
            declared ->
                RecordSchema.of(
                    title,
                    List.of(declared.value()),
                    Map.of(VERSION, Map.of("const", FORMAT_VERSION))));
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
    versioned.put(VERSION, FORMAT_VERSION);
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
