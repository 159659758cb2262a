package graft.guests.bundle;

import graft.common.bind.Form;
import java.util.regex.Pattern;

/**
 * The name of a Debian package.
 *
 * @see <a href="https://www.debian.org/doc/debian-policy/ch-controlfields.html#source">Debian
 *     Policy 5.6.1</a>
 */
@Form(pattern = "^[a-z0-9][a-z0-9+.-]+$", example = "rdma-core")
public record PackageName(String text) {
  private static final Pattern TEXT = Pattern.compile("[a-z0-9][a-z0-9+.-]+");

  /**
   * Parses a package name.
   *
   * @throws IllegalArgumentException if no package can have that name
   */
  public static PackageName parse(String text) {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException("'" + text + "' is not the name of a Debian package");
    }
    return new PackageName(text);
  }

  @Override
  public String toString() {
    return text;
  }
}
