package graft.common.values;

import graft.common.bind.Form;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A length of time in whole seconds, written {@code 90s}, {@code 5m} or {@code 1h}. */
@Form(pattern = "^[0-9]+ ?[smh]$", example = "90s")
public record TimeSpan(long seconds) {
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,6}) ?([smh])");

  /** Refuses zero and negative lengths. */
  public TimeSpan {
    if (seconds <= 0) {
      throw new IllegalArgumentException("a time must be at least 1s");
    }
  }

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is not a count of seconds, minutes or hours
   */
  public static TimeSpan parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("'" + text + "' is not a time in s, m or h");
    }
    long count = Long.parseLong(matcher.group(1));
    return new TimeSpan(
        switch (matcher.group(2)) {
          case "h" -> count * 3600;
          case "m" -> count * 60;
          default -> count;
        });
  }

  public Duration toDuration() {
    return Duration.ofSeconds(seconds);
  }

  /** The time in the largest unit that needs no fraction. */
  @Override
  public String toString() {
    if (seconds % 3600 == 0) {
      return seconds / 3600 + "h";
    }
    return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
  }
}
