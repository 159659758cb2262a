package graft.remoting.server;

import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers every HTTP request with the metrics' page. Local only: a Unix socket, or TCP on a
 * loopback address. One request after another, each with a time limit. A worker, which executes a
 * guest's calls and may be compromised, gets no answer from a Unix socket: the page shows other
 * guests.
 */
final class MetricsEndpoint implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MetricsEndpoint.class);
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final int MAX_REQUEST = 8192;

  private final Listener listener;
  private final Supplier<String> page;
  private final LongPredicate isWorker;
  private final Thread thread = new Thread(null, this::run, "graft-metrics", 256 * 1024);
  private volatile boolean closing;

  /**
   * Starts to answer.
   *
   * @param isWorker whether a process is a worker of this server
   * @throws ServerException when it cannot listen, or others could reach the address
   */
  MetricsEndpoint(ListenAddress address, Supplier<String> page, LongPredicate isWorker)
      throws ServerException {
    if (address instanceof ListenAddress.Tcp tcp && !Listener.isLoopback(tcp)) {
      throw new ServerException(
          "metrics at " + address + ": only a loopback address or a Unix socket is allowed");
    }
    this.page = page;
    this.isWorker = isWorker;
    this.listener = Listener.open(address);
    thread.setDaemon(true);
    thread.start();
  }

  ListenAddress address() {
    return listener.address();
  }

  private void run() {
    while (!closing) {
      try (NativeSocket socket = listener.accept()) {
        if (!(listener.address() instanceof ListenAddress.Unix)
            || !isWorker.test(socket.peerProcess())) {
          answer(socket);
        }
      } catch (IOException e) {
        if (!closing) {
          LOG.warn("metrics: {}", e.getMessage());
        }
      }
    }
  }

  private void answer(NativeSocket socket) throws IOException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    StringBuilder request = new StringBuilder();
    try (Scratch scratch = new Scratch(1024)) {
      while (request.indexOf("\r\n\r\n") < 0) {
        long count = socket.receiveSome(scratch.address(), 1024, deadline);
        if (count <= 0 || request.length() > MAX_REQUEST) {
          return;
        }
        request.append(new String(scratch.bytes(0, (int) count), StandardCharsets.ISO_8859_1));
      }
    }
    byte[] body = page.get().getBytes(StandardCharsets.UTF_8);
    String head =
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: "
            + body.length
            + "\r\nConnection: close\r\n\r\n";
    byte[] headBytes = head.getBytes(StandardCharsets.ISO_8859_1);
    try (Scratch first = Scratch.of(headBytes);
        Scratch second = Scratch.of(body)) {
      boolean sent = socket.sendAll(first.address(), headBytes.length, deadline);
      if (sent) {
        socket.sendAll(second.address(), body.length, deadline);
      }
    }
  }

  @Override
  public void close() {
    closing = true;
    listener.shutdown();
    try {
      thread.join(LIMIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    listener.close();
  }
}
