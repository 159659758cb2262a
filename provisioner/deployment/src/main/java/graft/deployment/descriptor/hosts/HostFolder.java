package graft.deployment.descriptor.hosts;

import graft.common.bind.Form;
import java.util.regex.Pattern;

/**
 * A folder of another machine. Its characters have no meaning for a shell, and no part of it is
 * {@code .} or {@code ..}.
 */
@Form(pattern = "^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$", example = "/opt/graft-hosts")
public record HostFolder(String text) {
  /** Where the programs are, if the descriptor does not say. */
  public static final String DEFAULT = "/opt/graft-hosts";

  private static final Pattern TEXT = Pattern.compile("(/[A-Za-z0-9_][A-Za-z0-9._-]*)+");

  /** Refuses what is not such a folder. */
  public HostFolder {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is not an absolute path of letters, digits, '_', '-' and '.'");
    }
  }

  public static HostFolder parse(String text) {
    return new HostFolder(text);
  }

  @Override
  public String toString() {
    return text;
  }
}
