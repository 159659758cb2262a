package graft.guests.image;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of an image that Graft keeps, such as {@code debian:12}.
 *
 * @param system the operating system
 * @param version the system's version
 */
public record ImageName(String system, String version) {
  private static final Pattern TEXT =
      Pattern.compile("([a-z][a-z0-9-]{0,30}):([a-z0-9][a-z0-9.-]{0,30})");

  /** Parses the name of an image; empty if the text is a path or another text. */
  public static Optional<ImageName> of(String text) {
    Matcher matcher = TEXT.matcher(text);
    return matcher.matches()
        ? Optional.of(new ImageName(matcher.group(1), matcher.group(2)))
        : Optional.empty();
  }

  /** The name of the file of that kind. */
  String file(ImageKind kind) {
    return system + "-" + version + "." + kind.suffix();
  }

  @Override
  public String toString() {
    return system + ":" + version;
  }
}
