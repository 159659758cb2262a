package graft.hypervisors.libvirt.calls;

import java.util.regex.Pattern;

/**
 * Text that a guest may have written, made fit for a terminal. A terminal takes control characters
 * as commands: to retitle its window, to rewrite what it shows, in some to type for the user.
 */
public final class GuestText {
  /** C0 and C1 controls, and the controls that reorder what is shown (Unicode UAX 9). */
  private static final Pattern CONTROL =
      Pattern.compile(
          "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"
              + "&&[^\\n\\t]]");

  private GuestText() {}

  /**
   * The text with each control character as <code>\</code>{@code uXXXX}; line breaks and tabs stay.
   * JSON means the same afterwards: in a string this is how JSON itself writes the character.
   */
  public static String printable(String text) {
    return CONTROL
        .matcher(text.replace("\r\n", "\n"))
        .replaceAll(found -> String.format("\\\\u%04x", (int) found.group().charAt(0)));
  }

  /**
   * The same on one line.
   *
   * @param most how many characters of the text are kept
   */
  public static String line(String text, int most) {
    String kept = text.length() > most ? text.substring(0, most) + "..." : text;
    return printable(kept.strip().replaceAll("[\\n\\t]+", " "));
  }
}
