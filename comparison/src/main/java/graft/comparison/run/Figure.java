package graft.comparison.run;

/**
 * A number that a program measured.
 *
 * @param size the size that belongs to it, in bytes or as a count; 0 if none does
 */
public record Figure(String name, long size, double value, String unit) {
  /** Whether a higher value is a better one. */
  public static boolean isRate(String unit) {
    return unit.endsWith("/s") || unit.equals("x");
  }

  /** Whether values are compared at all: amounts and shares are not. */
  public static boolean isCompared(String unit) {
    return !unit.equals("B") && !unit.equals("%");
  }
}
