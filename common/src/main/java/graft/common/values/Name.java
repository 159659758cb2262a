package graft.common.values;

import graft.common.bind.Form;
import java.util.regex.Pattern;

/**
 * The name of something that a descriptor declares. It becomes a host name, a file name and a
 * libvirt name, so it has a form that all of these allow: a DNS label (RFC 1123) in lower case.
 */
@Form(pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", example = "guest-1")
public record Name(String text) implements Comparable<Name> {
  private static final Pattern TEXT = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

  /** Refuses text that is not such a label. */
  public Name {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a name: use a-z, 0-9 and inner hyphens, at most 63 characters");
    }
  }

  public static Name parse(String text) {
    return new Name(text);
  }

  @Override
  public int compareTo(Name other) {
    return text.compareTo(other.text);
  }

  @Override
  public String toString() {
    return text;
  }
}
