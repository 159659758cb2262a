package graft.comparison.link;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The time that a link takes for one byte there and one back, written {@code 500us}, {@code 30ms}
 * or {@code 0.15s}.
 *
 * @param nanoseconds from 0 to 10 s
 */
public record RoundTrip(long nanoseconds) {
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,6}(?:\\.[0-9]{1,6})?)(us|ms|s)");
  private static final Duration LONGEST = Duration.ofSeconds(10);

  /** The round trip of a link without delay. */
  public static final RoundTrip NONE = new RoundTrip(0);

  /** Rejects negative and very long times. */
  public RoundTrip {
    if (nanoseconds < 0 || nanoseconds > LONGEST.toNanos()) {
      throw new IllegalArgumentException("a round trip is from 0 to 10s");
    }
  }

  /**
   * Parses a round trip.
   *
   * @throws IllegalArgumentException if the text is not a time in us, ms or s, or longer than 10 s
   */
  public static RoundTrip parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("'" + text + "' is not a time in us, ms or s");
    }
    int power = matcher.group(2).equals("us") ? 3 : matcher.group(2).equals("ms") ? 6 : 9;
    return new RoundTrip(
        new BigDecimal(matcher.group(1)).scaleByPowerOfTen(power).toBigInteger().longValue());
  }

  double seconds() {
    return nanoseconds / 1e9;
  }

  /** The round trip in milliseconds, such as {@code 30ms}; {@code 0} if there is no delay. */
  @Override
  public String toString() {
    return nanoseconds == 0
        ? "0"
        : BigDecimal.valueOf(nanoseconds, 6).stripTrailingZeros().toPlainString() + "ms";
  }
}
