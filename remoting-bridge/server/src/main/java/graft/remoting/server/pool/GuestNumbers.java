package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.Map;

/**
 * The numbers by which graft-starter tells guests apart. A guest keeps its number for as long as it
 * has sessions, so that all of them share a folder.
 */
final class GuestNumbers {
  private record Known(long number, int sessions) {}

  @GuardedBy("this")
  private final Map<String, Known> names = new HashMap<>();

  @GuardedBy("this")
  private long last;

  /** Returns the number of a guest of which a session begins. */
  synchronized long begin(String name) {
    Known known = names.get(name);
    known = known == null ? new Known(++last, 1) : new Known(known.number(), known.sessions() + 1);
    names.put(name, known);
    return known.number();
  }

  /** Is told that such a session has ended. */
  synchronized void end(String name) {
    names.computeIfPresent(
        name,
        (its, known) ->
            known.sessions() == 1 ? null : new Known(known.number(), known.sessions() - 1));
  }
}
