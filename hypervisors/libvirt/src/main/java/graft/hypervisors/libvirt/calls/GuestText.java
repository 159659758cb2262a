package graft.hypervisors.libvirt.calls;

import java.util.regex.Pattern;

/**
 * Makes text that a guest may have written safe for a terminal. A terminal executes control
 * characters as commands: they can change its title, rewrite what it shows and, in some terminals,
 * type for the user.
 */
public final class GuestText {
  /**
   * C0 and C1 control characters, and the control characters that reorder the displayed text
   * (Unicode UAX 9).
   */
  private static final Pattern CONTROL =
      Pattern.compile(
          "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"
              + "&&[^\\n\\t]]");

  private GuestText() {}

  /**
   * The text with each control character written as <code>\</code>{@code uXXXX}. Line breaks and
   * tabs are kept. The meaning of JSON does not change, because JSON writes the character in a
   * string in the same way.
   */
  public static String printable(String text) {
    return CONTROL
        .matcher(text.replace("\r\n", "\n"))
        .replaceAll(found -> String.format("\\\\u%04x", (int) found.group().charAt(0)));
  }

  /**
   * The text of {@link #printable} on one line.
   *
   * @param most the maximum number of characters of the text that are kept
   */
  public static String line(String text, int most) {
    String kept = text.length() > most ? text.substring(0, most) + "..." : text;
    return printable(kept.strip().replaceAll("[\\n\\t]+", " "));
  }
}
