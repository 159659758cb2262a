package graft.remoting.server.system;

import graft.remoting.device.Memory;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;

/** Connections that a server makes to another one. */
public final class OutgoingConnection {
  /** The size of struct timeval. */
  private static final int TIMEVAL = 16;

  private OutgoingConnection() {}

  /**
   * Connects to a TCP or Unix address within {@code limit}.
   *
   * @throws IOException if that fails, with the reason
   */
  public static NativeSocket connect(ListenAddress address, Duration limit) throws IOException {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY + TIMEVAL)) {
      long memory = scratch.address();
      int length;
      if (address instanceof ListenAddress.Tcp tcp) {
        length = SocketAddress.write(memory, InetAddress.getByName(tcp.host()), tcp.port());
      } else if (address instanceof ListenAddress.Unix unix) {
        length = SocketAddress.write(memory, unix.path());
      } else {
        throw new IOException("cannot connect to " + address + ": write a TCP or Unix address");
      }
      int family = Memory.getShort(memory);
      int fd = Libc.socket(family, Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC, 0);
      if (fd < 0) {
        throw Libc.failure("create a socket");
      }
      NativeSocket socket = new NativeSocket(fd, address.toString());
      try {
        limitSending(socket, memory + SocketAddress.CAPACITY, limit); // also limits connect(2)
        if (Libc.connect(fd, memory, length) < 0) {
          throw Libc.failure("connect to " + address);
        }
        limitSending(socket, memory + SocketAddress.CAPACITY, Duration.ZERO);
        if (family != Libc.AF_UNIX) {
          SocketOptions.forClient(socket);
        }
        return socket;
      } catch (IOException e) {
        socket.close();
        throw e;
      }
    }
  }

  /** Sets SO_SNDTIMEO, socket(7); zero stands for none. */
  private static void limitSending(NativeSocket socket, long memory, Duration limit)
      throws IOException {
    Memory.putLong(memory, limit.getSeconds());
    Memory.putLong(memory + Long.BYTES, limit.getNano() / 1_000);
    if (Libc.setsockopt(socket.fd(), Libc.SOL_SOCKET, Libc.SO_SNDTIMEO, memory, TIMEVAL) < 0) {
      throw Libc.failure("limit the time to send to " + socket.peer());
    }
  }
}
