package graft.sriov;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An amount of memory in bytes, 0 or more.
 *
 * @param bytes the amount
 */
public record MemorySize(long bytes) implements Comparable<MemorySize> {
  private static final Pattern TEXT =
      Pattern.compile("([0-9]+)\\s*(?:([KMGTP])(?:iB)?|B)?", Pattern.CASE_INSENSITIVE);
  private static final String UNITS = "KMGTP";

  public MemorySize {
    if (bytes < 0) {
      throw new IllegalArgumentException("a negative memory size: " + bytes);
    }
  }

  /**
   * Reads {@code 512}, {@code 512 MiB}, {@code 64G}: powers of 1024, a whole number.
   *
   * @throws IllegalArgumentException when it is something else or more than 2^63-1 bytes
   */
  public static MemorySize parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "not a memory size: '" + text + "' (expected such as 64GiB or 512M)");
    }
    try {
      int power =
          matcher.group(2) == null
              ? 0
              : UNITS.indexOf(matcher.group(2).toUpperCase(Locale.ROOT)) + 1;
      return new MemorySize(
          Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << (10 * power)));
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException("memory size too large: '" + text + "'", e);
    }
  }

  @Override
  public int compareTo(MemorySize other) {
    return Long.compare(bytes, other.bytes);
  }

  /** In the largest unit that divides it: {@code 64 GiB}, {@code 1536 MiB}, {@code 4097 B}. */
  @Override
  public String toString() {
    int power = 0;
    long amount = bytes;
    while (amount != 0 && amount % 1024 == 0 && power < UNITS.length()) {
      amount /= 1024;
      power++;
    }
    return amount + " " + (power == 0 ? "" : UNITS.charAt(power - 1) + "i") + "B";
  }
}
