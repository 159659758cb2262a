package graft.cli.terminal;

import java.util.Map;
import java.util.stream.Collectors;

/** The colours of a plan at a terminal. */
final class PlanColours {
  private static final String GREEN = "32";
  private static final String RED = "31";
  private static final String YELLOW = "33";
  private static final String BOLD = "1";
  private static final String BOLD_RED = "1;31";

  private PlanColours() {}

  /**
   * Whether a person wants colours: at a terminal that has them, unless the variable NO_COLOR has a
   * value (no-color.org).
   */
  static boolean areWanted(boolean terminal, Map<String, String> environment) {
    return terminal
        && environment.getOrDefault("NO_COLOR", "").isEmpty()
        && !environment.getOrDefault("TERM", "dumb").equals("dumb");
  }

  /**
   * A plan with what will be done in green, what will be undone and data that is deleted in red,
   * warnings in yellow, and guests, servers and the like in bold.
   *
   * @param text without control characters but the ends of lines
   */
  static String paint(String text) {
    return text.lines()
        .map(
            line -> {
              String colour = colour(line);
              return colour.isEmpty() ? line : "\u001b[" + colour + "m" + line + "\u001b[0m";
            })
        .collect(Collectors.joining("\n"));
  }

  private static String colour(String line) {
    if (line.startsWith("    + ")) {
      return GREEN;
    } else if (line.startsWith("    - ")) {
      return RED;
    } else if (line.startsWith("deletes data: ")) {
      return BOLD_RED;
    } else if (line.startsWith("warning: ")) {
      return YELLOW;
    }
    return line.startsWith("  ") ? BOLD : "";
  }
}
