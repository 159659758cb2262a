package graft.remoting.server.operate;

import graft.common.json.Json;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.SystemCallException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * Asks a server by its operators' socket. The server may be compromised, and its folder is its own:
 * the answer has a largest size and a time limit, and a socket is asked only if the process behind
 * it is its owner, so that a link cannot lead root to another program's socket.
 */
public final class OperatorClient {
  private static final Duration LIMIT = Duration.ofSeconds(15);
  private static final int MAX_ANSWER = 16 << 20;
  private static final int CHUNK = 64 << 10;

  private OperatorClient() {}

  /** Asks for the sessions that the server serves. */
  public static Map<String, Object> sessions(Path socket) throws IOException {
    return sessions(socket, LIMIT);
  }

  /**
   * Asks for the sessions that the server serves.
   *
   * @param limit how long to wait for the answer
   */
  public static Map<String, Object> sessions(Path socket, Duration limit) throws IOException {
    return ask(socket, Map.of("request", "sessions"), limit);
  }

  /**
   * Ends a session, and returns what it had used.
   *
   * @param session the session's id
   */
  public static Map<String, Object> end(Path socket, String session) throws IOException {
    return ask(socket, Map.of("request", "end", "session", session));
  }

  /**
   * Sends a request and returns the answer.
   *
   * @throws IOException if the server does not answer, or refuses the request
   */
  static Map<String, Object> ask(Path socket, Map<String, Object> request) throws IOException {
    return ask(socket, request, LIMIT);
  }

  private static Map<String, Object> ask(Path socket, Map<String, Object> request, Duration limit)
      throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    try (NativeSocket server = NativeSocket.connectStream(socket, "the server")) {
      checkOwner(socket, server);
      byte[] line = (Json.line(request) + "\n").getBytes(StandardCharsets.UTF_8);
      try (Scratch bytes = Scratch.of(line)) {
        server.sendAll(bytes.address(), line.length, deadline);
      } catch (SystemCallException e) {
        if (e.errno() != Libc.EPIPE) {
          throw e;
        }
        // The server has closed the connection already: it answers only some users.
      }
      Map<String, Object> answer = Json.readObject(receive(server, deadline, limit));
      if (answer.get("error") instanceof String error) {
        throw new IOException(error);
      }
      return answer;
    }
  }

  private static void checkOwner(Path socket, NativeSocket server) throws IOException {
    Object owner;
    try {
      owner = Files.getAttribute(socket, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      throw new IOException("the server at " + socket + " has ended", e);
    }
    if (!owner.equals(server.peerUser())) {
      throw new IOException(
          socket + " belongs to user " + owner + ", but user " + server.peerUser() + " serves it");
    }
  }

  private static String receive(NativeSocket server, long deadline, Duration limit)
      throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    try (Scratch scratch = new Scratch(CHUNK)) {
      long count;
      while ((count = server.receiveSome(scratch.address(), CHUNK, deadline)) > 0) {
        answer.write(scratch.bytes(0, (int) count), 0, (int) count);
        if (answer.size() > MAX_ANSWER) {
          throw new IOException("the server's answer has more than " + MAX_ANSWER + " bytes");
        }
      }
      if (count == NativeSocket.NOTHING) {
        throw new IOException("the server has not answered for " + limit.toSeconds() + " s");
      }
      if (answer.size() == 0) {
        throw new IOException("the server answers only root and the user that it runs as");
      }
      return answer.toString(StandardCharsets.UTF_8);
    }
  }
}
