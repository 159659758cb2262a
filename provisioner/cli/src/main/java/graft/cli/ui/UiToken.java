package graft.cli.ui;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.regex.Pattern;

/** The secret that a browser needs to read the data of the page: 64 hexadecimal digits. */
final class UiToken {
  private static final int BYTES = 32;
  private static final int MOST_BYTES = 2 * BYTES + 2;
  private static final Pattern FORM = Pattern.compile("[0-9a-f]{" + 2 * BYTES + "}");
  private static final Set<PosixFilePermission> OWN =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private final String text;

  private UiToken(String text) {
    this.text = text;
  }

  /** Makes a token that nobody knows. */
  static UiToken make() {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return new UiToken(HexFormat.of().formatHex(bytes));
  }

  /**
   * Reads a token from a file, or makes the file with a new token and mode 0600.
   *
   * @throws GraftException if other users may read the file, or it has no token
   */
  static UiToken in(Path file) {
    try {
      if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        UiToken made = make();
        PrivateFiles.write(file, (made.text + "\n").getBytes(StandardCharsets.US_ASCII));
        return made;
      }
      PosixFileAttributes found =
          Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!found.isRegularFile()
          || !OWN.containsAll(found.permissions())
          || !Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS)
              .equals(Libc.geteuid())) {
        throw new GraftException(
            "the token file " + file + " is no file that only this user owns and may read",
            "chmod 600 " + file + ", or name a file that is not there: it is made");
      }
      String text = found.size() > MOST_BYTES ? "" : Files.readString(file).strip();
      if (!FORM.matcher(text).matches()) {
        throw new GraftException(
            "the token file " + file + " has no token of " + 2 * BYTES + " hexadecimal digits",
            "delete it: a new one is made");
      }
      return new UiToken(text);
    } catch (IOException e) {
      throw new GraftException("cannot use the token file " + file + ": " + e.getMessage(), "", e);
    }
  }

  /** The token for the person who may read the page; it belongs into no log and no argument. */
  String secret() {
    return text;
  }

  /** Whether this is the token, in a time that does not depend on where the two differ. */
  boolean is(String given) {
    return MessageDigest.isEqual(
        text.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return "a token"; // so that no message shows it
  }
}
