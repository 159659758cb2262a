package graft.guests.image;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of an image that Graft keeps, such as {@code debian:12}.
 *
 * @param system what it is
 * @param version which one
 */
public record ImageName(String system, String version) {
  private static final Pattern TEXT =
      Pattern.compile("([a-z][a-z0-9-]{0,30}):([a-z0-9][a-z0-9.-]{0,30})");

  /** The name, if the text is one and not a path. */
  public static Optional<ImageName> of(String text) {
    Matcher matcher = TEXT.matcher(text);
    return matcher.matches()
        ? Optional.of(new ImageName(matcher.group(1), matcher.group(2)))
        : Optional.empty();
  }

  /** The name of its file. */
  String file() {
    return system + "-" + version + ".qcow2";
  }

  @Override
  public String toString() {
    return system + ":" + version;
  }
}
