package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.exchange.HandleExchange;
import graft.remoting.server.exchange.SharedHandle;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Descriptors;
import java.util.HashMap;
import java.util.Map;

/**
 * The server's side of {@link HandleExchange}: what the sessions of each name have given, as long
 * as their workers live.
 */
final class SharedHandles {
  /** Of one session. A descriptor costs more than a few bytes. */
  private static final int MOST = 16_384;

  private static final int MOST_DESCRIPTORS = 256;

  /** Bytes of a token, see SharingCalls. */
  private static final int TOKEN = 32;

  /** Bytes of a handle and what is said of it, see {@link SharedHandle}; more is no handle. */
  private static final int LONGEST = 128;

  @GuardedBy("this")
  private final Map<Key, Given> all = new HashMap<>();

  @GuardedBy("this")
  private final Map<Long, Count> counts = new HashMap<>();

  private record Key(String name, Bytes token) {}

  /**
   * What was given.
   *
   * @param session who gave it
   * @param fd this process' copy of the descriptor, -1 without one
   */
  record Given(long session, Bytes handle, int fd) {}

  private record Count(int handles, int descriptors) {}

  /**
   * Enters what a session gives; the descriptor is this object's then.
   *
   * @return false, and nothing is entered, if the session has given enough, the token is taken, or
   *     either is of a size that cannot be
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

  /** What a session of the same name has given under that token, null if there is none. */
  synchronized Given find(ServedSession session, Bytes token) {
    return all.get(new Key(session.name(), token));
  }

  /** Forgets what a session gave. */
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
