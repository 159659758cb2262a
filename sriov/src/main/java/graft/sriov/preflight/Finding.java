package graft.sriov.preflight;

import java.util.List;

/**
 * One thing that was looked at.
 *
 * @param level how bad it is
 * @param subject on what: a PCI address, a port, the kernel
 * @param text what was found
 * @param commands what to type to fix it or to find out more, in order; none when all is well
 */
public record Finding(Level level, String subject, String text, List<String> commands) {

  /** How bad something is. */
  public enum Level {
    OK,
    /** It may not work, or this host cannot tell. */
    WARNING,
    /** It will not work. */
    PROBLEM
  }

  public Finding {
    commands = List.copyOf(commands);
  }

  static Finding ok(String subject, String text) {
    return new Finding(Level.OK, subject, text, List.of());
  }

  static Finding warning(String subject, String text, String... commands) {
    return new Finding(Level.WARNING, subject, text, List.of(commands));
  }

  static Finding problem(String subject, String text, String... commands) {
    return new Finding(Level.PROBLEM, subject, text, List.of(commands));
  }

  /** {@code PROBLEM kernel: ...} and the commands below it, each on a line of its own. */
  @Override
  public String toString() {
    StringBuilder line = new StringBuilder(level + " " + subject + ": " + text);
    commands.forEach(command -> line.append("\n    ").append(command));
    return line.toString();
  }
}
