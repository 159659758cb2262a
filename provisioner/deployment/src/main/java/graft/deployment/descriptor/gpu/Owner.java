package graft.deployment.descriptor.gpu;

import graft.common.bind.Form;
import graft.common.values.Name;

/**
 * Who owns a GPU: {@code host}, {@code guest:NAME} (by passthrough) or {@code node:NAME} (another
 * machine).
 *
 * @param name the guest or the node; null for the host
 */
@Form(pattern = "^(host|(guest|node):[a-z0-9-]+)$", example = "host")
public record Owner(Kind kind, Name name) {
  /** The kinds of owners. */
  public enum Kind {
    HOST,
    GUEST,
    NODE
  }

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is none of the forms
   */
  public static Owner parse(String text) {
    if (text.equals("host")) {
      return new Owner(Kind.HOST, null);
    }
    if (text.startsWith("guest:")) {
      return new Owner(Kind.GUEST, new Name(text.substring(6)));
    }
    if (text.startsWith("node:")) {
      return new Owner(Kind.NODE, new Name(text.substring(5)));
    }
    throw new IllegalArgumentException("'" + text + "' is not host, guest:NAME or node:NAME");
  }

  @Override
  public String toString() {
    return switch (kind) {
      case HOST -> "host";
      case GUEST -> "guest:" + name;
      case NODE -> "node:" + name;
    };
  }
}
