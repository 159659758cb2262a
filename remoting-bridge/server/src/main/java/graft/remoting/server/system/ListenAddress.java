package graft.remoting.server.system;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address that a server listens on or a client connects to: {@code tcp://host:port}, {@code
 * tcp://[v6]:port}, {@code unix:///path} or {@code vsock://cid:port}. With TCP port 0 the system
 * chooses a port.
 */
public sealed interface ListenAddress {
  /** A TCP address. An IPv6 host is stored without its brackets. */
  record Tcp(String host, int port) implements ListenAddress {
    /** Checks the range of the port. */
    public Tcp {
      if (port < 0 || port > 65535) {
        throw new IllegalArgumentException("port " + port + " is not one of 0 to 65535");
      }
    }

    @Override
    public String toString() {
      return "tcp://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
  }

  /** The path of a Unix socket, absolute and at most 107 bytes long. */
  record Unix(Path path) implements ListenAddress {
    /** Checks the path. */
    public Unix {
      if (!path.isAbsolute()) {
        throw new IllegalArgumentException("unix address " + path + ": write an absolute path");
      }
      if (path.toString().getBytes(StandardCharsets.UTF_8).length > SocketAddress.MAX_PATH) {
        throw new IllegalArgumentException(
            "unix address " + path + " is longer than " + SocketAddress.MAX_PATH + " bytes");
      }
    }

    @Override
    public String toString() {
      return "unix://" + path;
    }
  }

  /**
   * An address between a host and its guests, which needs no network.
   *
   * @param cid the context id of the listening machine: 2 on a host, or {@link #ANY} for all that
   *     it has
   * @param port unsigned
   */
  record Vsock(long cid, int port) implements ListenAddress {
    /** VMADDR_CID_ANY. */
    static final long ANY = 0xFFFFFFFFL;

    @Override
    public String toString() {
      return "vsock://" + (cid == ANY ? "any" : cid) + ":" + Integer.toUnsignedString(port);
    }
  }

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException if the text is not an address
   */
  static ListenAddress parse(String text) {
    if (text.startsWith("unix://")) {
      return new Unix(Path.of(text.substring("unix://".length())));
    }
    Matcher tcp =
        Pattern.compile("tcp://(?:\\[([0-9a-fA-F:.%\\w]+)]|([^\\[\\]:/]+)):(\\d{1,5})/?")
            .matcher(text);
    if (tcp.matches()) {
      String host = tcp.group(1) != null ? tcp.group(1) : tcp.group(2);
      return new Tcp(host, Integer.parseInt(tcp.group(3)));
    }
    Matcher vsock = Pattern.compile("vsock://(any|\\d{1,9}):(\\d{1,9})/?").matcher(text);
    if (vsock.matches()) {
      long cid = vsock.group(1).equals("any") ? Vsock.ANY : Long.parseLong(vsock.group(1));
      return new Vsock(cid, Integer.parseInt(vsock.group(2)));
    }
    throw new IllegalArgumentException(
        "address '" + text + "': write tcp://HOST:PORT, unix:///PATH or vsock://CID:PORT");
  }
}
