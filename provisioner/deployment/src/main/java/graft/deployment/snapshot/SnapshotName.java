package graft.deployment.snapshot;

import java.util.regex.Pattern;

/**
 * The name of a snapshot. It begins with a letter: qemu-img takes a number for the ID of a snapshot
 * before it looks for a name, and a hyphen for an option.
 */
public record SnapshotName(String text) {
  private static final Pattern TEXT = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,62}");

  /** Rejects a text that is no name. */
  public SnapshotName {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is not a snapshot's name: use letters, digits, dots, hyphens and underscores, a"
              + " letter first, at most 63 characters");
    }
  }

  public static SnapshotName parse(String text) {
    return new SnapshotName(text);
  }

  @Override
  public String toString() {
    return text;
  }
}
