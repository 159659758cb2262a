package graft.guests.bundle;

import graft.common.bind.Form;
import java.util.regex.Pattern;

/**
 * The name of a systemd unit.
 *
 * @see <a href="https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html">systemd:
 *     unit names</a>
 */
@Form(pattern = "^[A-Za-z0-9][A-Za-z0-9:_.@-]*$", example = "graft-server.service")
public record ServiceName(String text) {
  private static final Pattern TEXT = Pattern.compile("[A-Za-z0-9][A-Za-z0-9:_.@-]*");

  /**
   * Parses a unit name.
   *
   * @throws IllegalArgumentException if no unit can have that name
   */
  public static ServiceName parse(String text) {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException("'" + text + "' is not the name of a systemd unit");
    }
    return new ServiceName(text);
  }

  @Override
  public String toString() {
    return text;
  }
}
