package graft.remoting.server.system;

import java.io.IOException;

/** The socket options for clients' connections. */
public final class SocketOptions {
  private static final int KEEPALIVE_IDLE_SECONDS = 15;
  private static final int KEEPALIVE_INTERVAL_SECONDS = 5;
  private static final int KEEPALIVE_COUNT = 4;
  private static final int UNACKNOWLEDGED_LIMIT_MILLIS = 35_000;

  private SocketOptions() {}

  /**
   * Turns off Nagle's algorithm for small records, and turns on keep-alive, since a guest that is
   * powered off does not close its connections (tcp(7)). Unix sockets need neither.
   */
  public static void forClient(NativeSocket socket) throws IOException {
    socket.option(Libc.IPPROTO_TCP, Libc.TCP_NODELAY, 1);
    socket.option(Libc.SOL_SOCKET, Libc.SO_KEEPALIVE, 1);
    socket.option(Libc.IPPROTO_TCP, Libc.TCP_KEEPIDLE, KEEPALIVE_IDLE_SECONDS);
    socket.option(Libc.IPPROTO_TCP, Libc.TCP_KEEPINTVL, KEEPALIVE_INTERVAL_SECONDS);
    socket.option(Libc.IPPROTO_TCP, Libc.TCP_KEEPCNT, KEEPALIVE_COUNT);
    socket.option(Libc.IPPROTO_TCP, Libc.TCP_USER_TIMEOUT, UNACKNOWLEDGED_LIMIT_MILLIS);
  }
}
