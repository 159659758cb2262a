package graft.remoting.server;

import graft.remoting.server.system.ListenAddress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Somebody on the wire between a client and the server: passes on what both send, remembers all of
 * it, and may change one bit of what the client sends.
 */
final class WireRelay implements AutoCloseable {
  private final ServerSocket listener;
  private final int serverPort;
  private final int changedByte;
  private final int changedBit;
  private final List<Socket> sockets = new ArrayList<>();
  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

  private WireRelay(ServerSocket listener, int serverPort, int changedByte, int changedBit) {
    this.listener = listener;
    this.serverPort = serverPort;
    this.changedByte = changedByte;
    this.changedBit = changedBit;
  }

  /** A relay that changes nothing. */
  static WireRelay before(ListenAddress server) throws IOException {
    return before(server, -1, 0);
  }

  /** A relay that inverts a bit of a byte that the client sends, counted from 0. */
  static WireRelay before(ListenAddress server, int changedByte, int changedBit)
      throws IOException {
    ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    int port = ((ListenAddress.Tcp) server).port();
    WireRelay relay = new WireRelay(listener, port, changedByte, changedBit);
    start(relay::accept);
    return relay;
  }

  ListenAddress address() {
    return ListenAddress.parse("tcp://127.0.0.1:" + listener.getLocalPort());
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
        synchronized (this) {
          sockets.add(client);
          sockets.add(server);
        }
        start(() -> pass(client, server, changedByte));
        start(() -> pass(server, client, -1));
      }
    } catch (IOException e) {
      // The relay is closed.
    }
  }

  private void pass(Socket from, Socket to, int changed) {
    byte[] buffer = new byte[65536];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      int before = 0;
      for (int count = in.read(buffer); count > 0; count = in.read(buffer)) {
        if (changed >= before && changed < before + count) {
          buffer[changed - before] ^= (byte) (1 << changedBit);
        }
        synchronized (this) {
          seen.write(buffer, 0, count);
        }
        out.write(buffer, 0, count);
        before += count;
      }
    } catch (IOException e) {
      // One of the two has closed the connection.
    }
  }

  /** Sends bytes of its own to the server, on the connection that was made last. */
  synchronized void inject(byte[] bytes) throws IOException {
    sockets.get(sockets.size() - 1).getOutputStream().write(bytes);
  }

  /** Whether a text was on the wire as it is. */
  synchronized boolean hasSeen(byte[] text) {
    String all = seen.toString(StandardCharsets.ISO_8859_1);
    return all.contains(new String(text, StandardCharsets.ISO_8859_1));
  }

  @Override
  public synchronized void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
