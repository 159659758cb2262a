package graft.guests.bundle;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What {@code ${name}} stands for in a bundle. */
public final class Variables {
  /** The folder of the client's libraries on this machine. */
  public static final String CLIENT = "client";

  /** The folder of this installation of Graft. */
  public static final String HOME = "home";

  /** The guest's name. */
  public static final String GUEST = "guest";

  /** The address of the guest's server. */
  public static final String SERVER = "server";

  /** The line that names the ports of the guest's adapters for its client; empty without. */
  public static final String RDMA_PORTS = "rdma-ports";

  /** The file with the guest's token on this machine. */
  public static final String TOKEN = "token";

  /**
   * The group in the guest whose members may use its vGPU, and the mode that gives them its token.
   */
  public static final String GROUP = "group";

  public static final String TOKEN_MODE = "token-mode";

  /** The folder with the files that the user provides for a bundle. */
  public static final String FILES = "files";

  private static final Pattern USE = Pattern.compile("\\$\\{([a-z0-9-]+)}");

  private final Map<String, String> values;

  private Variables(Map<String, String> values) {
    this.values = values;
  }

  public static Variables none() {
    return new Variables(Map.of());
  }

  /** A copy with one more variable. */
  public Variables with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(values);
    more.put(name, value);
    return new Variables(more);
  }

  public Optional<String> value(String name) {
    return Optional.ofNullable(values.get(name));
  }

  /**
   * A text with its variables replaced.
   *
   * @throws IllegalArgumentException with a message for the user if one is not known
   */
  public String expand(String text) {
    Matcher use = USE.matcher(text);
    StringBuilder out = new StringBuilder();
    while (use.find()) {
      String value = values.get(use.group(1));
      if (value == null) {
        throw new IllegalArgumentException(
            use.group()
                + " has no value; known are "
                + String.join(", ", new TreeSet<>(values.keySet())));
      }
      use.appendReplacement(out, Matcher.quoteReplacement(value));
    }
    return use.appendTail(out).toString();
  }
}
