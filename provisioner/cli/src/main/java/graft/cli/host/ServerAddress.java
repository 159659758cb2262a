package graft.cli.host;

import java.util.regex.Pattern;

/**
 * An address at which the client looks for a server: the address at which the server listens, or
 * that of another channel over the same socket or port, such as {@code shm:///run/graft.sock}.
 *
 * @param url the address as the client takes it
 */
public record ServerAddress(String url) {
  private static final Pattern FORM =
      Pattern.compile(
          "((unix|shm):///[^\\p{Cntrl}]+"
              + "|(tcp|rdma|ivshmem|vchan)://(\\[[0-9a-fA-F:]+]|[0-9A-Za-z_][0-9A-Za-z._-]*):[0-9]{1,5}"
              + "|(vsock|ivshmem\\+vsock)://[0-9]{1,9}:[0-9]{1,9})");

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException if the client has no channel for it
   */
  public static ServerAddress parse(String text) {
    if (!FORM.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is none of tcp://HOST:PORT, unix:///PATH, shm:///PATH, rdma://HOST:PORT,"
              + " vsock://CID:PORT, ivshmem://HOST:PORT, ivshmem+vsock://CID:PORT and"
              + " vchan://HOST:PORT");
    }
    return new ServerAddress(text);
  }

  @Override
  public String toString() {
    return url;
  }
}
