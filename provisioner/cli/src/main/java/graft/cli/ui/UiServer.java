package graft.cli.ui;

import graft.common.GraftException;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the page by HTTP/1.1 on a loopback address or a Unix socket, one request a connection. The
 * JDK's server has no Unix sockets and no time limit for a slow client. Here the head of a request,
 * the time for a request, and the connections at one time are limited; a connection beyond them is
 * closed at once. On a Unix socket only root and this process's user are answered.
 */
final class UiServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UiServer.class);
  private static final int MAX_HEAD = 8192;
  private static final int MAX_CONNECTIONS = 32;
  private static final int CHUNK = 1024;

  /** How much of a body that nobody reads is dropped, so that its sender reads the answer. */
  private static final int MAX_DROPPED = 64 << 10;

  private final Listener listener;
  private final UiRequests requests;
  private final Duration limit;
  private final ThreadPoolExecutor connections;
  private final Thread thread = new Thread(null, this::run, "graft-ui", 256 * 1024);
  private volatile boolean closing;

  /**
   * Starts to serve.
   *
   * @param limit how long a client may take to send its request, and how long to read the answer
   * @throws GraftException if the address is not this machine's alone, or something else is there
   */
  UiServer(ListenAddress address, UiRequests requests, Duration limit) {
    this.requests = requests;
    this.limit = limit;
    if (!isLocal(address)) {
      throw new GraftException(
          address + ": the page is served at a loopback address or a Unix socket",
          "from another machine use ssh -L, see graft ui --help");
    }
    this.listener = open(address);
    this.connections =
        new ThreadPoolExecutor(
            0, MAX_CONNECTIONS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), UiServer::thread);
    thread.setDaemon(true);
    thread.start();
  }

  private static boolean isLocal(ListenAddress address) {
    return address instanceof ListenAddress.Tcp tcp
        ? Listener.isLoopback(tcp)
        : address instanceof ListenAddress.Unix;
  }

  private static Listener open(ListenAddress address) {
    try {
      Listener opened = Listener.open(address);
      if (address instanceof ListenAddress.Unix unix) {
        // Until then the group could connect; it gets no answer, because peers are checked.
        Files.setPosixFilePermissions(unix.path(), PosixFilePermissions.fromString("rw-------"));
      }
      return opened;
    } catch (ServerException | IOException e) {
      throw new GraftException(e.getMessage(), "", e);
    }
  }

  private static Thread thread(Runnable work) {
    Thread made = new Thread(null, work, "graft-ui-request", 512 * 1024);
    made.setDaemon(true);
    return made;
  }

  /** The address, with the port that the system chose. */
  ListenAddress address() {
    return listener.address();
  }

  private void run() {
    while (!closing) {
      try {
        begin(listener.accept());
      } catch (IOException e) {
        if (!closing) {
          LOG.warn("page: {}", e.getMessage());
          pause();
        }
      }
    }
  }

  /** Without file descriptors accept fails at once, again and again. */
  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void begin(NativeSocket socket) {
    try {
      connections.execute(() -> serve(socket));
    } catch (RejectedExecutionException e) {
      socket.close();
      LOG.debug("page: more than {} connections", MAX_CONNECTIONS);
    }
  }

  private void serve(NativeSocket socket) {
    try (socket) {
      if (mayAsk(socket)) {
        answer(socket);
      }
    } catch (IOException e) {
      LOG.debug("page: {}", e.getMessage());
    }
  }

  private boolean mayAsk(NativeSocket socket) throws IOException {
    if (listener.isTcp()) {
      return true;
    }
    int user = socket.peerUser();
    return user == 0 || user == Libc.geteuid();
  }

  private void answer(NativeSocket socket) throws IOException {
    String head = receive(socket);
    if (head.isEmpty()) {
      return;
    }
    boolean withBody = true;
    HttpReply reply;
    try {
      HttpRequest request = HttpRequest.parse(head);
      withBody = !request.isHead();
      reply = requests.answer(request);
    } catch (IOException e) {
      reply = HttpReply.refusal("400 Bad Request", e.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("page: {}", e.toString());
      reply = HttpReply.refusal("500 Internal Server Error", "the data cannot be shown");
    }
    send(socket, reply, withBody);
  }

  /** The head of a request; empty if none comes in time. */
  private String receive(NativeSocket socket) throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Scratch scratch = new Scratch(CHUNK)) {
      while (bytes.size() < MAX_HEAD) {
        int most = Math.min(CHUNK, MAX_HEAD - bytes.size());
        long count = socket.receiveSome(scratch.address(), most, deadline);
        if (count <= 0) {
          return "";
        }
        bytes.write(scratch.bytes(0, (int) count), 0, (int) count);
        String text = bytes.toString(StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        if (end >= 0) {
          return text.substring(0, end);
        }
      }
    }
    send(socket, HttpReply.refusal("431 Request Header Fields Too Large", "too long"), true);
    return "";
  }

  private void send(NativeSocket socket, HttpReply reply, boolean withBody) throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    byte[] head = reply.headBytes();
    byte[] body = withBody ? reply.bodyBytes() : new byte[0];
    byte[] all = new byte[head.length + body.length];
    System.arraycopy(head, 0, all, 0, head.length);
    System.arraycopy(body, 0, all, head.length, body.length);
    try (Scratch bytes = Scratch.of(all)) {
      if (!socket.sendAll(bytes.address(), all.length, deadline)) {
        return;
      }
      // Closing a socket with unread data resets the connection, which can destroy the answer.
      socket.shutdownOutput();
      long dropped = 0;
      long count;
      while (dropped <= MAX_DROPPED
          && (count = socket.receiveSome(bytes.address(), all.length, deadline)) > 0) {
        dropped += count;
      }
    }
  }

  @Override
  public void close() {
    closing = true;
    listener.shutdown();
    connections.shutdown();
    try {
      thread.join(limit.toMillis());
      connections.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    listener.close();
  }
}
