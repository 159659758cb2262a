package graft.deployment.doctor;

import java.util.List;

/**
 * The result of one check.
 *
 * @param subject what was checked, in a word or two
 * @param found the state of the subject
 * @param fix what to do; empty if nothing
 * @param commands programs with their arguments that do it, in order; empty if a person has to do
 *     it. Each word is written in Graft's code: nothing that was observed is part of a command
 */
public record Finding(
    Level level, String subject, String found, String fix, List<List<String>> commands) {
  /** The severity. */
  public enum Level {
    OK,
    /** It works, with a drawback, or something that not everybody needs is missing. */
    WARNING,
    /** It does not work. */
    PROBLEM
  }

  public static Finding ok(String subject, String found) {
    return new Finding(Level.OK, subject, found, "", List.of());
  }

  public static Finding warning(String subject, String found, String fix) {
    return new Finding(Level.WARNING, subject, found, fix, List.of());
  }

  public static Finding problem(String subject, String found, String fix) {
    return new Finding(Level.PROBLEM, subject, found, fix, List.of());
  }

  /** A copy with the commands that fix it. */
  public Finding fixedBy(List<List<String>> programs) {
    return new Finding(level, subject, found, fix, programs);
  }
}
