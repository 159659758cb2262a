package graft.guests.bundle;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The values of {@code ${name}} in a bundle. */
public final class Variables {
  /** The folder of the client's libraries on this machine. */
  public static final String CLIENT = "client";

  /** The folder in which Graft is installed. */
  public static final String HOME = "home";

  /** The guest's name. */
  public static final String GUEST = "guest";

  /** The addresses of the guest's servers, as the client's configuration has them. */
  public static final String SERVER = "server";

  /**
   * The line of the client's configuration that turns off encryption; empty if the client decides
   * by the server's address.
   */
  public static final String ENCRYPTION = "encryption";

  /**
   * The line of the client's configuration that names the ports of the guest's adapters; empty if
   * the guest has no adapters.
   */
  public static final String RDMA_PORTS = "rdma-ports";

  /** The file with the guest's token for its first server on this machine. */
  public static final String TOKEN = "token";

  /** The files with the guest's tokens in the guest, one for each server. */
  public static final String TOKEN_FILES = "token-files";

  /**
   * The group in the guest whose members may use the guest's vGPU, and the mode that lets the
   * members read the guest's token.
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
   * Replaces the variables in a text.
   *
   * @throws IllegalArgumentException with a message for the user if a variable is unknown
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
