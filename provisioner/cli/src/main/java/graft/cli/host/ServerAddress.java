package graft.cli.host;

import graft.common.values.Endpoint;
import java.util.Map;
import java.util.Optional;

/**
 * An address at which the client looks for a server: the address at which the server listens, or
 * that of another channel over the same socket or port, such as {@code shm:///run/graft.sock}.
 *
 * @param url the address as the client takes it
 */
public record ServerAddress(String url) {
  /** The channels that begin at a socket of another scheme. */
  private static final Map<String, String> SOCKETS =
      Map.of(
          "shm", "unix", "rdma", "tcp", "ivshmem", "tcp", "vchan", "tcp", "ivshmem+vsock", "vsock");

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException if the client has no channel for it
   */
  public static ServerAddress parse(String text) {
    int end = Math.max(0, text.indexOf("://"));
    String scheme = text.substring(0, end);
    String socket = SOCKETS.getOrDefault(scheme, scheme) + text.substring(end);
    if (!isEndpoint(socket)) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is none of tcp://HOST:PORT, unix:///PATH, shm:///PATH, rdma://HOST:PORT,"
              + " vsock://CID:PORT, ivshmem://HOST:PORT, ivshmem+vsock://CID:PORT and"
              + " vchan://HOST:PORT");
    }
    return new ServerAddress(text);
  }

  /** Whether a client can connect there: vsock://any is an address at which only servers listen. */
  private static boolean isEndpoint(String socket) {
    try {
      return !Endpoint.parse(socket).cid().equals(Optional.of(Endpoint.ANY));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  @Override
  public String toString() {
    return url;
  }
}
