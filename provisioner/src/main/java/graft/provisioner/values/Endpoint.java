package graft.provisioner.values;

import graft.provisioner.bind.Form;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a server listens or is reached: {@code tcp://HOST:PORT} or {@code unix:///PATH}.
 *
 * @param host the host, empty for a Unix socket
 * @param port the port, 0 for a Unix socket
 * @param path the socket's path, empty for TCP
 */
@Form(pattern = "^(tcp://.+:[0-9]+|unix:///.+)$", example = "tcp://127.0.0.1:7799")
public record Endpoint(String host, int port, String path) {
  private static final Pattern TCP =
      Pattern.compile("tcp://(\\[[0-9a-fA-F:]+]|[^:/]+):([0-9]{1,5})");

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is neither form
   */
  public static Endpoint parse(String text) {
    if (text.startsWith("unix:///") && text.length() > 8) {
      return new Endpoint("", 0, text.substring(7));
    }
    Matcher matcher = TCP.matcher(text);
    if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > 65535) {
      throw new IllegalArgumentException(
          "'" + text + "' is neither tcp://HOST:PORT nor unix:///PATH");
    }
    return new Endpoint(matcher.group(1), Integer.parseInt(matcher.group(2)), "");
  }

  public static Endpoint tcp(String host, int port) {
    return new Endpoint(host, port, "");
  }

  public static Endpoint unix(String path) {
    return new Endpoint("", 0, path);
  }

  public boolean isUnix() {
    return !path.isEmpty();
  }

  /** Whether only programs on this machine can reach it. */
  public boolean isLocal() {
    return isUnix() || host.startsWith("127.") || host.equals("localhost") || host.equals("[::1]");
  }

  @Override
  public String toString() {
    return isUnix() ? "unix://" + path : "tcp://" + host + ":" + port;
  }
}
