package graft.comparison.suite;

/** A decimal number. */
public record Quantity(double value) {
  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if the text is not a finite number
   */
  public static Quantity parse(String text) {
    try {
      double value = Double.parseDouble(text.strip());
      if (Double.isFinite(value)) {
        return new Quantity(value);
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException("'" + text + "' is not a number");
  }
}
