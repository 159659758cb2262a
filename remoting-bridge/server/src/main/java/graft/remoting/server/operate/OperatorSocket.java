package graft.remoting.server.operate;

import graft.common.json.Json;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Unix socket by which operators ask a running server. A connection carries one request, a JSON
 * object on one line, and one answer, a JSON object, after which the server closes the connection.
 * Only root and the server's own user are answered, and of these no worker of the server: a worker
 * executes a guest's calls, and runs as the server's user where the server is not root's.
 *
 * <p>Connections are answered one after another, each within a time limit. A peer that does not
 * send or read therefore delays other operators, who could as well kill the server, but no session.
 */
public final class OperatorSocket implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OperatorSocket.class);

  /** The longest request, in bytes. */
  static final int MAX_REQUEST = 4096;

  private static final Duration LIMIT = Duration.ofSeconds(2);

  /** What answers a request. */
  public interface Requests {
    /**
     * Answers a request.
     *
     * @throws RefusedRequestException if the request is wrong, with what to write instead
     */
    Map<String, Object> answer(Map<String, Object> request) throws RefusedRequestException;
  }

  private final Listener listener;
  private final Requests requests;
  private final LongPredicate isWorker;
  private final Thread thread = new Thread(null, this::run, "graft-operator", 1 << 20);
  private volatile boolean closing;

  /**
   * Starts to answer.
   *
   * @param path the socket, in a folder that only the server's user can enter
   * @param isWorker whether a process is a worker of this server
   * @throws ServerException if the server cannot listen there
   */
  public OperatorSocket(Path path, Requests requests, LongPredicate isWorker)
      throws ServerException {
    this.requests = requests;
    this.isWorker = isWorker;
    this.listener = Listener.openUnix(path, Libc.SOCK_STREAM);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    while (!closing) {
      try (NativeSocket socket = listener.accept()) {
        if (mayAsk(socket)) {
          serve(socket);
        }
      } catch (IOException e) {
        if (!closing) {
          LOG.warn("operator's socket: {}", e.getMessage());
        }
      }
    }
  }

  private boolean mayAsk(NativeSocket socket) throws IOException {
    int user = socket.peerUser();
    long process = socket.peerProcess();
    boolean may = (user == 0 || user == Libc.geteuid()) && !isWorker.test(process);
    if (!may) {
      LOG.debug("process {} of user {} may not ask this server", process, user);
    }
    return may;
  }

  private void serve(NativeSocket socket) throws IOException {
    byte[] answer = (Json.line(answer(socket)) + "\n").getBytes(StandardCharsets.UTF_8);
    try (Scratch bytes = Scratch.of(answer)) {
      socket.sendAll(bytes.address(), answer.length, System.nanoTime() + LIMIT.toNanos());
    }
  }

  private Map<String, Object> answer(NativeSocket socket) throws IOException {
    try {
      return requests.answer(Json.readObject(request(socket)));
    } catch (RefusedRequestException e) {
      return Map.of("error", e.getMessage());
    } catch (IOException | RuntimeException e) {
      LOG.debug("operator's socket: {}", e.toString());
      return Map.of(
          "error", "a request is one JSON object on one line of at most " + MAX_REQUEST + " bytes");
    }
  }

  /** Receives a line. */
  private static String request(NativeSocket socket) throws IOException {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try (Scratch scratch = new Scratch(MAX_REQUEST)) {
      while (line.size() <= MAX_REQUEST) {
        long count = socket.receiveSome(scratch.address(), MAX_REQUEST, deadline);
        if (count <= 0) {
          throw new IOException("the request has no end");
        }
        line.write(scratch.bytes(0, (int) count), 0, (int) count);
        String text = line.toString(StandardCharsets.UTF_8);
        if (text.indexOf('\n') >= 0) {
          return text.substring(0, text.indexOf('\n'));
        }
      }
      throw new IOException("the request is too long");
    }
  }

  @Override
  public void close() {
    closing = true;
    listener.shutdown();
    try {
      thread.join(2 * LIMIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    listener.close();
  }
}
