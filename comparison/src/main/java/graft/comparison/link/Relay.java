package graft.comparison.link;

import graft.common.values.Endpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * A link to a TCP server of this machine: it passes on what both ends send, after half a round trip
 * and no faster than its rate, beyond which it takes 20 ms of data. Opening a connection takes a
 * round trip, as that of TCP does. The link loses nothing, and does not begin slowly as TCP does on
 * a new connection. It needs no privileges, unlike the kernel's netem.
 */
public final class Relay implements AutoCloseable {
  /** What the kernel holds of a connection's data for the relay, if the link has a rate. */
  private static final int BUFFER = 256 << 10;

  private final ServerSocket listener;
  private final InetSocketAddress server;
  private final long roundTrip;
  private final LinkTimes there;
  private final LinkTimes back;
  private final Set<Socket> sockets = new HashSet<>();
  private boolean isClosed;

  private Relay(
      ServerSocket listener, InetSocketAddress server, RoundTrip time, Optional<LinkRate> rate) {
    this.listener = listener;
    this.server = server;
    this.roundTrip = time.nanoseconds();
    this.there = new LinkTimes(roundTrip / 2, rate);
    this.back = new LinkTimes(roundTrip - roundTrip / 2, rate);
  }

  /**
   * Opens a link on a free port of loopback.
   *
   * @param server the address of the server, tcp://HOST:PORT
   * @param rate the rate in each direction; empty if the link is as fast as this machine
   */
  public static Relay before(Endpoint server, RoundTrip time, Optional<LinkRate> rate)
      throws IOException {
    ServerSocket listener = new ServerSocket();
    if (rate.isPresent()) {
      listener.setReceiveBufferSize(BUFFER);
    }
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
    InetSocketAddress address = new InetSocketAddress(server.host(), server.port());
    Relay relay = new Relay(listener, address, time, rate);
    RelayDirection.daemon(relay::accept);
    return relay;
  }

  /** The address by which programs reach the server over the link. */
  public String url() {
    return "tcp://127.0.0.1:" + listener.getLocalPort();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        connect(listener.accept());
      } catch (IOException e) {
        // The link is closed, or the server did not take the connection: its client sees the end.
      }
    }
  }

  private void connect(Socket client) throws IOException {
    long open = System.nanoTime() + roundTrip;
    Socket onward = new Socket();
    try {
      onward.connect(server);
      client.setTcpNoDelay(true);
      onward.setTcpNoDelay(true);
      keep(client, onward);
    } catch (IOException e) {
      close(client);
      close(onward);
      throw e;
    }
    new RelayDirection(client, onward, there, open).start();
    new RelayDirection(onward, client, back, open).start();
  }

  private synchronized void keep(Socket client, Socket onward) throws IOException {
    if (isClosed) {
      throw new IOException("the link is closed");
    }
    sockets.removeIf(Socket::isClosed);
    sockets.add(client);
    sockets.add(onward);
  }

  static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // nothing is lost with it
    }
  }

  @Override
  public synchronized void close() throws IOException {
    isClosed = true;
    listener.close();
    sockets.forEach(Relay::close);
  }
}
