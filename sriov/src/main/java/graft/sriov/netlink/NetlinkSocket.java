package graft.sriov.netlink;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import graft.sriov.files.Errno;

/** A socket of the NETLINK_ROUTE family (netlink(7)), through libc. */
final class NetlinkSocket implements AutoCloseable {
  private static final int AF_NETLINK = 16;
  private static final int SOCK_RAW = 3;
  private static final int SOCK_CLOEXEC = 0x80000;
  private static final int NETLINK_ROUTE = 0;

  /** The size of a buffer for the reply about an interface with 255 VFs. */
  private static final int REPLY = 256 << 10;

  private final int fd;
  private final String link;
  private final byte[] reply = new byte[REPLY];

  static final class LibC {
    static {
      Native.register("c");
    }

    private LibC() {}

    static native int socket(int domain, int type, int protocol) throws LastErrorException;

    static native long send(int fd, byte[] data, long length, int flags) throws LastErrorException;

    static native long recv(int fd, byte[] data, long length, int flags) throws LastErrorException;

    static native int close(int fd) throws LastErrorException;
  }

  NetlinkSocket(String link) {
    this.link = link;
    try {
      fd = LibC.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    } catch (LastErrorException e) {
      throw failure("opening a netlink socket", e.getErrorCode());
    }
  }

  /** Sends one message and returns the kernel's reply: an acknowledgement or an interface. */
  byte[] exchange(String tried, byte[] message) {
    try {
      // A socket that is neither bound nor connected sends to the kernel.
      LibC.send(fd, message, message.length, 0);
      int length = (int) LibC.recv(fd, reply, reply.length, 0);
      return java.util.Arrays.copyOf(reply, length);
    } catch (LastErrorException e) {
      throw failure(tried, e.getErrorCode());
    }
  }

  NetlinkException failure(String tried, int number) {
    return new NetlinkException(tried, link, Errno.of(number), number);
  }

  @Override
  public void close() {
    LibC.close(fd);
  }
}
