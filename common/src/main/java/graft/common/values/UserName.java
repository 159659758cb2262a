package graft.common.values;

import graft.common.bind.Form;
import java.util.regex.Pattern;

/**
 * The name of a user to log in as: letters, digits, dots, underscores and hyphens, as in POSIX
 * (3.437, User Name). The first character is neither a hyphen nor a digit.
 */
@Form(pattern = "^[A-Za-z_][A-Za-z0-9._-]{0,31}$", example = "admin")
public record UserName(String text) {
  private static final Pattern TEXT = Pattern.compile("[A-Za-z_][A-Za-z0-9._-]{0,31}");

  /** The superuser. */
  public static final UserName ROOT = new UserName("root");

  /** Refuses text that is not such a name. */
  public UserName {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is not a user's name: use letters, digits, dots, underscores and inner hyphens,"
              + " at most 32");
    }
  }

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is not a user's name
   */
  public static UserName parse(String text) {
    return new UserName(text);
  }

  public boolean isRoot() {
    return equals(ROOT);
  }

  @Override
  public String toString() {
    return text;
  }
}
