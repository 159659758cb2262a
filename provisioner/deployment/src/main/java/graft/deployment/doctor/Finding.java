package graft.deployment.doctor;

/**
 * The result of one check.
 *
 * @param subject what was checked, in a word or two
 * @param found the state of the subject
 * @param fix what to do; empty if nothing
 */
public record Finding(Level level, String subject, String found, String fix) {
  /** The severity. */
  public enum Level {
    OK,
    /** It works, with a drawback, or something that not everybody needs is missing. */
    WARNING,
    /** It does not work. */
    PROBLEM
  }

  public static Finding ok(String subject, String found) {
    return new Finding(Level.OK, subject, found, "");
  }

  public static Finding warning(String subject, String found, String fix) {
    return new Finding(Level.WARNING, subject, found, fix);
  }

  public static Finding problem(String subject, String found, String fix) {
    return new Finding(Level.PROBLEM, subject, found, fix);
  }
}
