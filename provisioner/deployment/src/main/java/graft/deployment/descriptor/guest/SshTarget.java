package graft.deployment.descriptor.guest;

import graft.common.bind.Form;
import graft.common.values.UserName;
import graft.guests.connection.HostAddress;

/** A user of a machine, as SSH names it: {@code root@192.0.2.7}. */
@Form(pattern = "^[A-Za-z_][A-Za-z0-9._-]{0,31}@(?!-)[0-9A-Za-z.:-]+$", example = "root@192.0.2.7")
public record SshTarget(UserName user, HostAddress host) {
  /**
   * Parses {@code USER@HOST}. Neither part may begin with a hyphen, which ssh would take for an
   * option.
   *
   * @throws IllegalArgumentException if the text has another form
   */
  public static SshTarget parse(String text) {
    int at = text.indexOf('@');
    if (at < 0) {
      throw new IllegalArgumentException("'" + text + "' names no user: write USER@HOST");
    }
    return new SshTarget(
        UserName.parse(text.substring(0, at)), HostAddress.parse(text.substring(at + 1)));
  }

  @Override
  public String toString() {
    return user + "@" + host;
  }
}
