package graft.remoting.server;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.io.IOException;

/**
 * Messages over a Unix socket that carry a file descriptor (SCM_RIGHTS, see unix(7) and cmsg(3)).
 */
final class Descriptors {
  private static final int MSGHDR = 56;
  private static final int IOVEC = 16;
  private static final int CMSG = 24;
  private static final int CMSG_LENGTH = 16 + Integer.BYTES;

  private Descriptors() {}

  /**
   * A received message.
   *
   * @param bytes its length, 0 when the peer has gone
   * @param fd the descriptor, -1 without one; the receiver's from now on
   */
  record Received(int bytes, int fd) {}

  /** Sends bytes and, unless it is -1, a copy of a descriptor; the caller keeps its own. */
  static void send(NativeSocket socket, long address, int length, int fd) throws IOException {
    try (Scratch scratch = new Scratch(MSGHDR + IOVEC + CMSG)) {
      long control = header(scratch.address(), address, length);
      if (fd >= 0) {
        Memory.putLong(control, CMSG_LENGTH);
        Memory.putInt(control + 8, Libc.SOL_SOCKET);
        Memory.putInt(control + 12, Libc.SCM_RIGHTS);
        Memory.putInt(control + 16, fd);
      } else {
        Memory.putLong(scratch.address() + 32, 0);
        Memory.putLong(scratch.address() + 40, 0);
      }
      while (Libc.sendmsg(socket.fd(), scratch.address(), Libc.MSG_NOSIGNAL) < 0) {
        if (Native.getLastError() != Libc.EINTR) {
          throw Libc.failure("send to " + socket.peer());
        }
      }
    }
  }

  /**
   * Writes a msghdr with one piece of data and room for one control message; the address of that.
   */
  private static long header(long message, long address, int length) {
    long iovec = message + MSGHDR;
    long control = iovec + IOVEC;
    Memory.putLong(iovec, address);
    Memory.putLong(iovec + 8, length);
    Memory.putLong(message + 16, iovec);
    Memory.putLong(message + 24, 1);
    Memory.putLong(message + 32, control);
    Memory.putLong(message + 40, CMSG);
    return control;
  }

  /** Receives up to {@code length} bytes and the descriptor that comes with them. Waits. */
  static Received receive(NativeSocket socket, long address, int length) throws IOException {
    try (Scratch scratch = new Scratch(MSGHDR + IOVEC + CMSG)) {
      long message = scratch.address();
      long control = header(message, address, length);
      long count;
      while ((count = Libc.recvmsg(socket.fd(), message, Libc.MSG_CMSG_CLOEXEC)) < 0) {
        int errno = Native.getLastError();
        if (errno == Libc.ECONNRESET) {
          return new Received(0, -1);
        }
        if (errno != Libc.EINTR) {
          throw Libc.failure("read from " + socket.peer());
        }
      }
      boolean carries =
          Memory.getLong(message + 40) >= CMSG_LENGTH
              && Memory.getInt(control + 12) == Libc.SCM_RIGHTS;
      int fd = carries ? Memory.getInt(control + 16) : -1;
      if ((Memory.getInt(message + 48) & (Libc.MSG_TRUNC | Libc.MSG_CTRUNC)) != 0) {
        throw new IOException("a message from " + socket.peer() + " was cut");
      }
      return new Received((int) count, fd);
    }
  }
}
