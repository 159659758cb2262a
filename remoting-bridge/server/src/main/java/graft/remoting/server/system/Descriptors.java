package graft.remoting.server.system;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Messages over a Unix socket that carry file descriptors (SCM_RIGHTS, see unix(7) and cmsg(3)).
 */
public final class Descriptors {
  /** The largest number of descriptors in a message. */
  static final int MOST = 6;

  private static final int MSGHDR = 56;
  private static final int IOVEC = 16;
  private static final int CMSG_HEAD = 16;
  private static final int CMSG = CMSG_HEAD + MOST * Integer.BYTES;

  private Descriptors() {}

  /**
   * A received message.
   *
   * @param bytes its length, 0 if the peer has closed the connection
   * @param fds its descriptors, which belong to the receiver
   */
  public record Received(int bytes, List<Integer> fds) {}

  /**
   * Sends bytes and copies of descriptors; the caller keeps its own.
   *
   * @param flags of sendmsg(2)
   */
  public static void send(
      NativeSocket socket, long address, int length, List<Integer> fds, int flags)
      throws IOException {
    try (Scratch scratch = new Scratch(MSGHDR + IOVEC + CMSG)) {
      long message = scratch.address();
      long control = header(message, address, length);
      if (fds.isEmpty()) {
        Memory.putLong(message + 32, 0);
        Memory.putLong(message + 40, 0);
      } else {
        int bytes = CMSG_HEAD + fds.size() * Integer.BYTES;
        Memory.putLong(message + 40, bytes + 7 & ~7);
        Memory.putLong(control, bytes);
        Memory.putInt(control + 8, Libc.SOL_SOCKET);
        Memory.putInt(control + 12, Libc.SCM_RIGHTS);
        for (int i = 0; i < fds.size(); i++) {
          Memory.putInt(control + CMSG_HEAD + (long) i * Integer.BYTES, fds.get(i));
        }
      }
      while (Libc.sendmsg(socket.fd(), message, flags | Libc.MSG_NOSIGNAL) < 0) {
        if (Native.getLastError() != Libc.EINTR) {
          throw Libc.failure("send to " + socket.peer());
        }
      }
    }
  }

  /**
   * Writes a msghdr with one block of data and room for one control message, and returns the
   * address of the control message.
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

  /**
   * Waits, and receives up to {@code length} bytes and the descriptors that were sent with them.
   */
  public static Received receive(NativeSocket socket, long address, int length) throws IOException {
    try (Scratch scratch = new Scratch(MSGHDR + IOVEC + CMSG)) {
      long message = scratch.address();
      long control = header(message, address, length);
      long count;
      while ((count = Libc.recvmsg(socket.fd(), message, Libc.MSG_CMSG_CLOEXEC)) < 0) {
        int errno = Native.getLastError();
        if (errno == Libc.ECONNRESET) {
          return new Received(0, List.of());
        }
        if (errno != Libc.EINTR) {
          throw Libc.failure("read from " + socket.peer());
        }
      }
      List<Integer> fds = fds(control, Memory.getLong(message + 40));
      if ((Memory.getInt(message + 48) & (Libc.MSG_TRUNC | Libc.MSG_CTRUNC)) != 0) {
        fds.forEach(Descriptors::discard);
        throw new IOException("a message from " + socket.peer() + " was cut");
      }
      if (count == 0) {
        fds.forEach(Descriptors::discard);
        return new Received(0, List.of());
      }
      return new Received((int) count, fds);
    }
  }

  /** Returns all received descriptors: one that is missed would stay open. */
  private static List<Integer> fds(long control, long bytes) {
    List<Integer> fds = new ArrayList<>();
    if (bytes > CMSG_HEAD && Memory.getInt(control + 12) == Libc.SCM_RIGHTS) {
      long end = Math.min(Memory.getLong(control), CMSG);
      for (long at = CMSG_HEAD; at + Integer.BYTES <= end; at += Integer.BYTES) {
        fds.add(Memory.getInt(control + at));
      }
    }
    return fds;
  }

  /**
   * Closes a descriptor that another process sent, without waiting: a socket with SO_LINGER set
   * would block the caller.
   */
  public static void discard(int fd) {
    try (Scratch off = new Scratch(8)) {
      Libc.setsockopt(fd, Libc.SOL_SOCKET, Libc.SO_LINGER, off.address(), 8);
    }
    Libc.close(fd);
  }
}
