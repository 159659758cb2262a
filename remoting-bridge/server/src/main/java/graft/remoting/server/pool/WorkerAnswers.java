package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.util.List;

/**
 * The server's answers to workers' requests about handles and code that the sessions of a name
 * share. A worker may be compromised, so that a request reaches only what belongs to the name of
 * the worker's own session.
 */
final class WorkerAnswers implements AutoCloseable {
  private final SharedHandles shared = new SharedHandles();
  private final CodeCache code = new CodeCache();

  /**
   * Answers a request, and takes over its descriptors.
   *
   * @return false if the message is no request
   * @throws IOException if the answer cannot be sent
   */
  boolean hear(ServedSession session, ControlSocket.Received question, ControlSocket to)
      throws IOException {
    Bytes bytes = Bytes.NONE;
    int fd = -1;
    boolean taken = false;
    if (question.message() instanceof ControlMessage.Give give) {
      taken =
          isOneAtMost(question) && shared.put(session, give.token(), give.handle(), question.fd());
      bytes = taken ? give.handle() : Bytes.NONE;
    } else if (question.message() instanceof ControlMessage.Find find) {
      SharedHandles.Given given = shared.find(session, find.token());
      bytes = given == null ? Bytes.NONE : given.handle();
      fd = given == null ? -1 : given.fd();
    } else if (question.message() instanceof ControlMessage.KnownCode) {
      bytes = code.known(session);
    } else if (question.message() instanceof ControlMessage.KeepCode keep) {
      taken = isOneAtMost(question) && code.put(session, keep.hash(), question.fd());
      bytes = taken ? keep.hash() : Bytes.NONE;
    } else if (question.message() instanceof ControlMessage.FindCode find) {
      fd = code.find(session, find.hash());
    } else {
      return false;
    }
    if (!taken) {
      question.discard();
    }
    to.sendAtOnce(new ControlMessage.Shared(bytes), fd < 0 ? List.of() : List.of(fd));
    return true;
  }

  private static boolean isOneAtMost(ControlSocket.Received question) {
    return question.fds().size() <= 1;
  }

  /** Releases what the ended session exported and relied on. */
  void drop(ServedSession session) {
    shared.drop(session);
    code.drop(session);
  }

  /** Drops all code. The shared handles are dropped session by session. */
  @Override
  public void close() {
    code.close();
  }
}
