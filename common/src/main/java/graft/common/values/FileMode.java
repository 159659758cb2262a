package graft.common.values;

import graft.common.bind.Form;
import java.util.regex.Pattern;

/** The permissions of a file, written in octal: {@code 0644}. */
@Form(pattern = "^0?[0-7]{3}$", example = "0755")
public record FileMode(int bits) {
  private static final Pattern TEXT = Pattern.compile("0?[0-7]{3}");

  /**
   * Parses an octal number.
   *
   * @throws IllegalArgumentException if the text is not three octal digits
   */
  public static FileMode parse(String text) {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException("'" + text + "' is not an octal mode");
    }
    return new FileMode(Integer.parseInt(text, 8));
  }

  @Override
  public String toString() {
    return String.format(java.util.Locale.ROOT, "%04o", bits);
  }
}
