package graft.comparison.suite;

/** A decimal number. */
public record Quantity(double value) {
  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is no finite number
   */
  public static Quantity parse(String text) {
    try {
      double value = Double.parseDouble(text.strip());
      if (Double.isFinite(value)) {
        return new Quantity(value);
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new IllegalArgumentException("'" + text + "' is not a number");
  }
}
