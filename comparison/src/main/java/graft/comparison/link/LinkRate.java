package graft.comparison.link;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How fast a link carries data in each direction, written as {@code tc} does: {@code 100Mbit}.
 *
 * @param bitsPerSecond at least 1,000
 */
public record LinkRate(long bitsPerSecond) {
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,4})([KkMG])bit");
  private static final double NANOSECONDS_PER_BYTE_AT_ONE_BIT = 8e9;

  /**
   * Parses a rate.
   *
   * @throws IllegalArgumentException if the text is not a number of kbit, Mbit or Gbit, or 0
   */
  public static LinkRate parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches() || Integer.parseInt(matcher.group(1)) == 0) {
      throw new IllegalArgumentException("'" + text + "' is not a rate in kbit, Mbit or Gbit");
    }
    long unit =
        switch (matcher.group(2)) {
          case "G" -> 1_000_000_000;
          case "M" -> 1_000_000;
          default -> 1000;
        };
    return new LinkRate(Long.parseLong(matcher.group(1)) * unit);
  }

  /** How long a number of bytes occupies the link, in nanoseconds. */
  long nanoseconds(int bytes) {
    return Math.round(bytes * NANOSECONDS_PER_BYTE_AT_ONE_BIT / bitsPerSecond);
  }

  /** The rate in the largest unit that needs no fraction. */
  @Override
  public String toString() {
    if (bitsPerSecond % 1_000_000_000 == 0) {
      return bitsPerSecond / 1_000_000_000 + "Gbit";
    }
    return bitsPerSecond % 1_000_000 == 0
        ? bitsPerSecond / 1_000_000 + "Mbit"
        : bitsPerSecond / 1000 + "kbit";
  }
}
