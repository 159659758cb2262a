package graft.common.values;

import graft.common.bind.Form;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a server: {@code tcp://HOST:PORT}, {@code unix:///PATH} or {@code
 * vsock://CID:PORT}.
 *
 * @param host the host, empty for Unix sockets and vsock
 * @param port the port, 0 for a Unix socket
 * @param path the path of the Unix socket, empty for other forms
 * @param cid the context id, used by vsock alone
 */
@Form(
    pattern = "^(tcp://.+:[0-9]+|unix:///.+|vsock://(any|[0-9]+):[0-9]+)$",
    example = "tcp://127.0.0.1:7799")
public record Endpoint(String host, int port, String path, Optional<Long> cid) {
  /** The host's context id, as its guests see it (VMADDR_CID_HOST). */
  public static final long HOST = 2;

  /** Every context id that this machine has (VMADDR_CID_ANY). */
  public static final long ANY = 0xFFFFFFFFL;

  private static final Pattern VSOCK = Pattern.compile("vsock://(any|[0-9]{1,9}):([0-9]{1,9})");

  private static final Pattern TCP =
      Pattern.compile("tcp://(\\[[0-9a-fA-F:]+]|[0-9A-Za-z_][0-9A-Za-z._-]*):([0-9]{1,5})");

  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if the text has none of these forms
   */
  public static Endpoint parse(String text) {
    if (text.startsWith("unix:///") && text.length() > 8 && !CONTROL.matcher(text).find()) {
      return unix(text.substring(7));
    }
    Matcher vsock = VSOCK.matcher(text);
    if (vsock.matches()) {
      long cid = vsock.group(1).equals("any") ? ANY : Long.parseLong(vsock.group(1));
      return vsock(cid, Integer.parseInt(vsock.group(2)));
    }
    Matcher matcher = TCP.matcher(text);
    if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > 65535) {
      throw new IllegalArgumentException(
          "'" + text + "' is none of tcp://HOST:PORT, unix:///PATH and vsock://CID:PORT");
    }
    return tcp(matcher.group(1), Integer.parseInt(matcher.group(2)));
  }

  public static Endpoint tcp(String host, int port) {
    return new Endpoint(host, port, "", Optional.empty());
  }

  public static Endpoint unix(String path) {
    return new Endpoint("", 0, path, Optional.empty());
  }

  public static Endpoint vsock(long cid, int port) {
    return new Endpoint("", port, "", Optional.of(cid));
  }

  public boolean isVsock() {
    return cid.isPresent();
  }

  public boolean isUnix() {
    return !path.isEmpty();
  }

  /** Whether only programs on this machine can reach this address. */
  public boolean isLocal() {
    return isUnix() || host.startsWith("127.") || host.equals("localhost") || host.equals("[::1]");
  }

  @Override
  public String toString() {
    if (isVsock()) {
      return "vsock://" + (cid.get() == ANY ? "any" : cid.get()) + ":" + port;
    }
    return isUnix() ? "unix://" + path : "tcp://" + host + ":" + port;
  }
}
