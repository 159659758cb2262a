package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.exchange.HandleExchange;
import graft.remoting.server.exchange.SharedHandle;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Descriptors;
import java.util.HashMap;
import java.util.Map;

/**
 * The handles that the sessions of each name have exported, for {@link HandleExchange}. A handle is
 * dropped with the worker that exported it.
 */
final class SharedHandles {
  /** The largest number of handles of one session. Each may keep a descriptor open. */
  private static final int MOST = 16_384;

  private static final int MOST_DESCRIPTORS = 256;

  /** The length of a token; see SharingCalls. */
  private static final int TOKEN = 32;

  /** The largest length of a handle with its description; see {@link SharedHandle}. */
  private static final int LONGEST = 128;

  @GuardedBy("this")
  private final Map<Key, Given> all = new HashMap<>();

  @GuardedBy("this")
  private final Map<Long, Count> counts = new HashMap<>();

  private record Key(String name, Bytes token) {}

  /**
   * An exported handle.
   *
   * @param session the session that exported it
   * @param fd this process' copy of the descriptor, -1 without one
   */
  record Given(long session, Bytes handle, int fd) {}

  private record Count(int handles, int descriptors) {}

  /**
   * Enters a handle that a session exports, and takes over the descriptor.
   *
   * @return false, and nothing is entered, if the session has exported the largest number of
   *     handles, the token is in use, or the token or handle has an invalid length
   */
  synchronized boolean put(ServedSession session, Bytes token, Bytes handle, int fd) {
    Count count = counts.getOrDefault(session.id(), new Count(0, 0));
    int descriptors = count.descriptors() + (fd >= 0 ? 1 : 0);
    Key key = new Key(session.name(), token);
    if (token.array().length != TOKEN || handle.array().length > LONGEST) {
      return false;
    }
    if (count.handles() >= MOST || descriptors > MOST_DESCRIPTORS || all.containsKey(key)) {
      return false;
    }
    all.put(key, new Given(session.id(), handle, fd));
    counts.put(session.id(), new Count(count.handles() + 1, descriptors));
    return true;
  }

  /**
   * Returns the handle that a session of the same name has exported under that token, null if there
   * is none.
   */
  synchronized Given find(ServedSession session, Bytes token) {
    return all.get(new Key(session.name(), token));
  }

  /** Drops the handles of a session. */
  synchronized void drop(ServedSession session) {
    if (counts.remove(session.id()) == null) {
      return;
    }
    all.values()
        .removeIf(
            given -> {
              boolean gone = given.session() == session.id();
              if (gone && given.fd() >= 0) {
                Descriptors.discard(given.fd());
              }
              return gone;
            });
  }
}
