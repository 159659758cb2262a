package graft.comparison.suite;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Bounds of a transfer's size, written {@code 64K-256K}; K and M are powers of 1024. */
public record SizeClass(String low, String high) {
  private static final Pattern TEXT = Pattern.compile("([0-9]+[KM]?)-([0-9]+[KM]?)");

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if the text is not two sizes, the smaller first
   */
  public static SizeClass parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("'" + text + "' is not a class of sizes like 64K-256K");
    }
    if (bytes(matcher.group(1)) > bytes(matcher.group(2))) {
      throw new IllegalArgumentException("'" + text + "': write the smaller size first");
    }
    return new SizeClass(matcher.group(1), matcher.group(2));
  }

  private static long bytes(String text) {
    long unit = text.endsWith("K") ? 1024 : text.endsWith("M") ? 1024 * 1024 : 1;
    return unit * Long.parseLong(text.replaceAll("[KM]", ""));
  }

  @Override
  public String toString() {
    return low + "-" + high;
  }
}
