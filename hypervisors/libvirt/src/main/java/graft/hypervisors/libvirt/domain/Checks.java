package graft.hypervisors.libvirt.domain;

import java.util.regex.Pattern;

/** Checks that several specs share; each message names the field and the value. */
final class Checks {

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._+:@-]{0,254}");

  private Checks() {}

  /**
   * libvirt itself allows more characters, but such names become parts of file names and shell
   * commands.
   */
  static void name(String field, String value) {
    if (!NAME.matcher(value).matches()) {
      throw new IllegalArgumentException(
          field
              + " '"
              + value
              + "' must start with a letter or digit and hold only letters, digits and ._+:@-");
    }
  }

  static void absolutePath(String field, String value) {
    if (!value.startsWith("/")) {
      throw new IllegalArgumentException(
          field + " '" + value + "' must be an absolute path on the host that runs libvirt");
    }
    singleLine(field, value);
  }

  static void singleLine(String field, String value) {
    for (int i = 0; i < value.length(); i++) {
      if (value.charAt(i) < ' ') {
        throw new IllegalArgumentException(field + " must not hold control characters");
      }
    }
  }

  static void positive(String field, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(field + " must be positive, not " + value);
    }
  }
}
