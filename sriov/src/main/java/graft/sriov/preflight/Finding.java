package graft.sriov.preflight;

import java.util.List;

/**
 * The result of one check.
 *
 * @param level the severity
 * @param subject the object of the check: a PCI address, a port, the kernel
 * @param text the result
 * @param commands commands that fix the problem or find out more, in order; none if all is well
 */
public record Finding(Level level, String subject, String text, List<String> commands) {

  /** The severity of a finding. */
  public enum Level {
    OK,
    /** The feature may not work, or this host cannot determine whether it works. */
    WARNING,
    /** The feature will not work. */
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

  /** {@code PROBLEM kernel: ...} and the commands, each on a line of its own. */
  @Override
  public String toString() {
    StringBuilder line = new StringBuilder(level + " " + subject + ": " + text);
    commands.forEach(command -> line.append("\n    ").append(command));
    return line.toString();
  }
}
