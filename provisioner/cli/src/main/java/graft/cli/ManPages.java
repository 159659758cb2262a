package graft.cli;

import graft.cli.terminal.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The manual pages of all commands, in roff with the macros of man(7), made from the output of
 * {@code --help}. distribution/assemble.sh calls this class.
 */
final class ManPages {
  private ManPages() {}

  /** Writes one page for each command into the folder {@code args[0]}. */
  public static void main(String[] args) throws IOException {
    // The default of options such as run's --name would otherwise show who built Graft.
    System.setProperty("user.name", "your user name");
    Path folder = Files.createDirectories(Path.of(args[0]));
    for (Map.Entry<String, String> page : pages(Main.commandLine()).entrySet()) {
      Files.writeString(folder.resolve(page.getKey()), page.getValue());
    }
  }

  /** The page of each command, by file names such as {@code graft-image-build.1}. */
  static Map<String, String> pages(CommandLine line) {
    Map<String, String> pages = new TreeMap<>();
    pages.put(name(line) + ".1", page(line));
    visible(line).forEach(command -> pages.putAll(pages(command)));
    return pages;
  }

  private static String page(CommandLine line) {
    CommandSpec spec = line.getCommandSpec();
    UsageMessageSpec usage = spec.usageMessage();
    StringBuilder page = new StringBuilder();
    page.append(".TH ").append(name(line).toUpperCase(Locale.ROOT));
    page.append(" 1 \"\" \"graft ").append(Version.text()).append("\" Graft\n");
    page.append(".SH NAME\n").append(name(line)).append(" \\- ");
    page.append(text(String.join(" ", usage.header()))).append('\n');
    page.append(".SH SYNOPSIS\n.ad l\n.nh\n");
    page.append(text(line.getHelp().synopsis(0).replaceAll("\\s+", " ").strip())).append('\n');
    page.append(".hy\n.ad\n");
    String description = lines(usage.description()).collect(Collectors.joining("\n")).strip();
    if (!description.isEmpty()) {
      page.append(".SH DESCRIPTION\n").append(text(description)).append('\n');
    }
    List<ArgSpec> arguments =
        Stream.concat(spec.positionalParameters().stream(), spec.options().stream())
            .filter(argument -> !argument.hidden())
            .toList();
    if (!arguments.isEmpty()) {
      page.append(".SH OPTIONS\n");
      arguments.forEach(a -> item(page, label(line, a), String.join(" ", a.description())));
    }
    if (!visible(line).isEmpty()) {
      page.append(".SH COMMANDS\n");
      visible(line).forEach(c -> item(page, c.getCommandName(), header(c)));
    }
    footer(page, usage);
    page.append(".SH SEE ALSO\n").append(related(line)).append('\n');
    return page.toString();
  }

  /**
   * Writes the lines of a footer unchanged, except for titles: lines without indentation that end
   * with a colon.
   */
  private static void footer(StringBuilder page, UsageMessageSpec usage) {
    boolean verbatim = false;
    for (String line :
        Stream.concat(lines(usage.footerHeading()), lines(usage.footer())).toList()) {
      if (line.endsWith(":") && !line.startsWith(" ")) {
        page.append(verbatim ? ".fi\n" : "").append(".SH ");
        page.append(text(line.substring(0, line.length() - 1).toUpperCase(Locale.ROOT)));
        page.append("\n.nf\n");
        verbatim = true;
      } else if (!line.isBlank()) {
        page.append(text(line)).append('\n');
      }
    }
    page.append(verbatim ? ".fi\n" : "");
  }

  private static Stream<String> lines(String... texts) {
    return Stream.of(String.join("\n", texts).replace("%n", "\n").split("\n", -1));
  }

  private static void item(StringBuilder page, String label, String description) {
    page.append(".TP\n\\fB").append(text(label)).append("\\fR\n");
    page.append(text(description)).append('\n');
  }

  private static String label(CommandLine line, ArgSpec argument) {
    String parameter =
        line.getHelp()
            .parameterLabelRenderer()
            .renderParameterLabel(argument, CommandLine.Help.Ansi.OFF, List.of())
            .toString();
    return argument instanceof OptionSpec option
        ? String.join(", ", option.names()) + parameter
        : parameter;
  }

  private static String header(CommandLine command) {
    return String.join(" ", command.getCommandSpec().usageMessage().header());
  }

  private static String related(CommandLine line) {
    Stream<CommandLine> parent = Stream.ofNullable(line.getParent());
    return Stream.concat(parent, visible(line).stream())
        .map(command -> ".BR " + name(command).replace("-", "\\-") + " (1)")
        .collect(Collectors.joining(",\n"));
  }

  private static List<CommandLine> visible(CommandLine line) {
    return line.getSubcommands().values().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .distinct()
        .toList();
  }

  private static String name(CommandLine line) {
    return line.getCommandSpec().qualifiedName("-");
  }

  /** Escapes text for roff, which takes a line that begins with . or ' for a request. */
  private static String text(String text) {
    return text.lines()
        .map(line -> line.replace("\\", "\\e").replace("-", "\\-"))
        .map(line -> line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line)
        .collect(Collectors.joining("\n"));
  }
}
