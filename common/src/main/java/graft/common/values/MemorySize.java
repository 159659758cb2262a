package graft.common.values;

import graft.common.bind.Form;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An amount of memory or disk space in bytes, written with a binary unit, as in {@code 512MiB}. */
@Form(pattern = "^[0-9]+ ?([KMGT]i)?B?$", example = "512MiB")
public record MemorySize(long bytes) implements Comparable<MemorySize> {
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,15}) ?(?:([KMGT])i)?B?");
  private static final Pattern OTHER_UNIT =
      Pattern.compile("([0-9]{1,15}) ?([kKmMgGtT])[iI]?[bB]?");
  private static final String UNITS = "KMGT";

  /** Rejects negative amounts. */
  public MemorySize {
    if (bytes < 0) {
      throw new IllegalArgumentException("a size cannot be negative");
    }
  }

  /**
   * Parses {@code 512MiB}, {@code 2 GiB}, {@code 4096}.
   *
   * @throws IllegalArgumentException for any other form; decimal units are rejected, because memory
   *     is not counted in decimal units
   */
  public static MemorySize parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      Matcher other = OTHER_UNIT.matcher(text.strip());
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is not a size in bytes, KiB, MiB, GiB or TiB"
              + (other.matches()
                  ? "; did you mean '"
                      + other.group(1)
                      + other.group(2).toUpperCase(Locale.ROOT)
                      + "iB'?"
                  : ""));
    }
    long count = Long.parseLong(matcher.group(1));
    int power = matcher.group(2) == null ? 0 : UNITS.indexOf(matcher.group(2)) + 1;
    long unit = 1L << (10 * power);
    if (count > Long.MAX_VALUE / unit) {
      throw new IllegalArgumentException("'" + text + "' is too large");
    }
    return new MemorySize(count * unit);
  }

  public static MemorySize ofKib(long kib) {
    return new MemorySize(Math.multiplyExact(kib, 1L << 10));
  }

  public static MemorySize ofMib(long mib) {
    return new MemorySize(Math.multiplyExact(mib, 1L << 20));
  }

  public static MemorySize ofGib(long gib) {
    return new MemorySize(Math.multiplyExact(gib, 1L << 30));
  }

  /** The size in whole KiB, rounded up: libvirt counts memory in KiB and rounds up as well. */
  public long kib() {
    return bytes / 1024 + (bytes % 1024 == 0 ? 0 : 1);
  }

  /** The size in whole MiB, rounded up. */
  public long mib() {
    return (bytes >> 20) + (bytes % (1 << 20) == 0 ? 0 : 1);
  }

  @Override
  public int compareTo(MemorySize other) {
    return Long.compare(bytes, other.bytes);
  }

  /** The size in the largest unit that needs no fraction. */
  @Override
  public String toString() {
    for (int power = UNITS.length(); power > 0; power--) {
      long unit = 1L << (10 * power);
      if (bytes >= unit && bytes % unit == 0) {
        return bytes / unit + String.valueOf(UNITS.charAt(power - 1)) + "iB";
      }
    }
    return bytes + "B";
  }

  /** The size rounded to be read by a user: {@code 23.5GiB}. */
  public String rounded() {
    for (int power = UNITS.length(); power > 0; power--) {
      double unit = 1L << (10 * power);
      if (bytes >= unit) {
        String number = String.format(Locale.ROOT, "%.1f", bytes / unit);
        return number.replace(".0", "") + UNITS.charAt(power - 1) + "iB";
      }
    }
    return bytes + "B";
  }
}
