package graft.remoting.server.system;

import graft.remoting.device.Memory;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.OptionalLong;

/**
 * The kernel's form of an address ({@code sockaddr_in}, {@code sockaddr_in6}, {@code sockaddr_un},
 * {@code sockaddr_vm}).
 */
public final class SocketAddress {
  /** The size of the longest form. */
  public static final int CAPACITY = 128;

  /** The longest path of a Unix socket, without the NUL. */
  static final int MAX_PATH = 107;

  private SocketAddress() {}

  /** Writes an internet address and returns its length. */
  public static int write(long memory, InetAddress address, int port) {
    Memory.fill(memory, CAPACITY, (byte) 0);
    Memory.putByte(memory + 2, (byte) (port >> 8));
    Memory.putByte(memory + 3, (byte) port);
    if (address instanceof Inet6Address v6) {
      Memory.putShort(memory, (short) Libc.AF_INET6);
      Memory.write(memory + 8, v6.getAddress(), 0, v6.getAddress().length);
      Memory.putInt(memory + 24, v6.getScopeId());
      return 28;
    }
    Memory.putShort(memory, (short) Libc.AF_INET);
    Memory.write(
        memory + 4,
        ((Inet4Address) address).getAddress(),
        0,
        ((Inet4Address) address).getAddress().length);
    return 16;
  }

  /** Writes a path, of at most {@link #MAX_PATH} bytes, and returns the length of the address. */
  public static int write(long memory, Path path) {
    byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_PATH) {
      throw new IllegalArgumentException(
          "Unix socket path "
              + path
              + " is longer than "
              + MAX_PATH
              + " bytes: choose a shorter one");
    }
    Memory.fill(memory, CAPACITY, (byte) 0);
    Memory.putShort(memory, (short) Libc.AF_UNIX);
    Memory.write(memory + 2, bytes, 0, bytes.length);
    return 2 + bytes.length + 1;
  }

  /** Writes a vsock address (vsock(7)) and returns its length. */
  public static int write(long memory, ListenAddress.Vsock address) {
    Memory.fill(memory, CAPACITY, (byte) 0);
    Memory.putShort(memory, (short) Libc.AF_VSOCK);
    Memory.putInt(memory + 4, address.port());
    Memory.putInt(memory + 8, (int) address.cid());
    return 16;
  }

  /** Returns the context id of a vsock address, empty for other kinds. */
  static OptionalLong cid(long memory) {
    return (Memory.getShort(memory) & 0xFFFF) == Libc.AF_VSOCK
        ? OptionalLong.of(Integer.toUnsignedLong(Memory.getInt(memory + 8)))
        : OptionalLong.empty();
  }

  /** Returns the port of an internet address. */
  static int port(long memory) {
    return (Memory.getByte(memory + 2) & 0xFF) << 8 | (Memory.getByte(memory + 3) & 0xFF);
  }

  /** Returns whether the address is one of the Internet's and not the loopback interface's. */
  static boolean leavesMachine(long memory) {
    return switch (Memory.getShort(memory) & 0xFFFF) {
      case Libc.AF_INET -> !address(memory + 4, 4).isLoopbackAddress();
      case Libc.AF_INET6 -> !address(memory + 8, 16).isLoopbackAddress();
      default -> false;
    };
  }

  /** What all connections from one place have in common; {@link NativeSocket#source}. */
  static String source(long memory) {
    return switch (Memory.getShort(memory) & 0xFFFF) {
      case Libc.AF_INET -> address(memory + 4, 4).getHostAddress();
      case Libc.AF_INET6 ->
          // Java makes an Inet4Address of an IPv4 address that is mapped to IPv6.
          address(memory + 8, 16) instanceof Inet6Address
              ? HexFormat.of().formatHex(Scratch.bytesAt(memory + 8, 8)) + "::/64"
              : address(memory + 8, 16).getHostAddress();
      case Libc.AF_VSOCK -> "vsock " + cid(memory).getAsLong();
      default -> "local";
    };
  }

  private static InetAddress address(long memory, int bytes) {
    try {
      return InetAddress.getByAddress(Scratch.bytesAt(memory, bytes));
    } catch (UnknownHostException e) {
      throw new IllegalStateException("4 and 16 bytes are always an address", e);
    }
  }

  /** An address as {@code host:port}, or "local" for a Unix socket's nameless peer. */
  static String text(long memory) {
    return switch (Memory.getShort(memory) & 0xFFFF) {
      case Libc.AF_INET -> address(memory + 4, 4).getHostAddress() + ":" + port(memory);
      case Libc.AF_INET6 -> "[" + address(memory + 8, 16).getHostAddress() + "]:" + port(memory);
      case Libc.AF_VSOCK ->
          "vsock "
              + cid(memory).getAsLong()
              + ":"
              + Integer.toUnsignedString(Memory.getInt(memory + 4));
      default -> "local";
    };
  }
}
