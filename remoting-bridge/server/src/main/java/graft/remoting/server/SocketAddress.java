package graft.remoting.server;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The kernel's form of an address ({@code sockaddr_in}, {@code sockaddr_in6}, {@code sockaddr_un}).
 */
final class SocketAddress {
  /** Room for the longest form. */
  static final int CAPACITY = 128;

  /** The longest path of a Unix socket, without the NUL. */
  static final int MAX_PATH = 107;

  private SocketAddress() {}

  /** Writes an internet address; its length. */
  static int write(long memory, InetAddress address, int port) {
    NativeMemory.fill(memory, CAPACITY, (byte) 0);
    NativeMemory.putByte(memory + 2, (byte) (port >> 8));
    NativeMemory.putByte(memory + 3, (byte) port);
    if (address instanceof Inet6Address v6) {
      NativeMemory.putShort(memory, (short) Libc.AF_INET6);
      NativeMemory.put(memory + 8, v6.getAddress());
      NativeMemory.putInt(memory + 24, v6.getScopeId());
      return 28;
    }
    NativeMemory.putShort(memory, (short) Libc.AF_INET);
    NativeMemory.put(memory + 4, ((Inet4Address) address).getAddress());
    return 16;
  }

  /** Writes a path; its length. The path must not be longer than {@link #MAX_PATH} bytes. */
  static int write(long memory, Path path) {
    byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_PATH) {
      throw new IllegalArgumentException(
          "Unix socket path "
              + path
              + " is longer than "
              + MAX_PATH
              + " bytes: choose a shorter one");
    }
    NativeMemory.fill(memory, CAPACITY, (byte) 0);
    NativeMemory.putShort(memory, (short) Libc.AF_UNIX);
    NativeMemory.put(memory + 2, bytes);
    return 2 + bytes.length + 1;
  }

  /** The port of an internet address. */
  static int port(long memory) {
    return (NativeMemory.getByte(memory + 2) & 0xFF) << 8
        | (NativeMemory.getByte(memory + 3) & 0xFF);
  }

  /** An address as {@code host:port}, or "local" for a Unix socket's nameless peer. */
  static String text(long memory) {
    try {
      return switch (NativeMemory.getUnsignedShort(memory)) {
        case Libc.AF_INET ->
            InetAddress.getByAddress(NativeMemory.bytes(memory + 4, 4)).getHostAddress()
                + ":"
                + port(memory);
        case Libc.AF_INET6 ->
            "["
                + InetAddress.getByAddress(NativeMemory.bytes(memory + 8, 16)).getHostAddress()
                + "]:"
                + port(memory);
        default -> "local";
      };
    } catch (UnknownHostException e) {
      throw new IllegalStateException("4 and 16 bytes are always an address", e);
    }
  }
}
