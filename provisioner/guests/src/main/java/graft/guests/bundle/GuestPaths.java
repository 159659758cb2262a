package graft.guests.bundle;

import java.util.regex.Pattern;

/** Checks paths in a guest. */
public final class GuestPaths {
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  private GuestPaths() {}

  /** Whether a text is an absolute path of a file or folder that does not contain {@code ..}. */
  public static boolean isFile(String path) {
    return path.startsWith("/")
        && !path.endsWith("/")
        && !(path + "/").contains("/../")
        && !CONTROL.matcher(path).find();
  }
}
