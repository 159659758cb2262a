package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.exchange.ContentExchange.Kind;
import graft.remoting.server.pool.ContentCache.Limits;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The server's answers to workers' requests about handles, code and data that the sessions of a
 * name share. A worker may be compromised, so that a request reaches only what belongs to the name
 * of the worker's own session.
 */
final class WorkerAnswers implements AutoCloseable {
  private final SharedHandles shared = new SharedHandles();
  private final Map<ContentExchange.Kind, ContentCache> contents =
      new EnumMap<>(ContentExchange.Kind.class);

  /**
   * Creates the answers of a server.
   *
   * @param keptData the most bytes of data that the server keeps; half of them of one name
   */
  WorkerAnswers(long keptData) {
    contents.put(Kind.CODE, new ContentCache(new Limits(256L << 20, 1L << 30, Kind.CODE.most())));
    contents.put(Kind.DATA, new ContentCache(new Limits(keptData / 2, keptData, Kind.DATA.most())));
  }

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
    } else if (question.message() instanceof ControlMessage.KnownContents known) {
      bytes = contents.get(known.kind()).known(session);
    } else if (question.message() instanceof ControlMessage.KeepContent keep) {
      taken =
          isOneAtMost(question)
              && contents.get(keep.kind()).put(session, keep.hash(), question.fd());
      bytes = taken ? keep.hash() : Bytes.NONE;
    } else if (question.message() instanceof ControlMessage.FindContent find) {
      fd = contents.get(find.kind()).find(session, find.hash());
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
    contents.values().forEach(cache -> cache.drop(session));
  }

  /** Drops the contents of the names that are not chosen. */
  void retain(Predicate<String> chosen) {
    contents.values().forEach(cache -> cache.retain(chosen));
  }

  /** Drops all contents. The shared handles are dropped session by session. */
  @Override
  public void close() {
    contents.values().forEach(ContentCache::close);
  }
}
