package graft.remoting.server.session.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * Numbers that the driver gave and that clients see unchanged, because CUDA's interface has 64 bits
 * there instead of a pointer. To the driver these numbers are pointers, so that a number which it
 * did not give is refused.
 */
public final class KnownNumbers {
  /** The kind of object that a number names. */
  public enum Kind {
    MEMORY,
    TEXTURE,
    SURFACE,
    CONDITION
  }

  @GuardedBy("this")
  private final Map<Kind, Map<Long, Integer>> counts = new EnumMap<>(Kind.class);

  KnownNumbers() {
    for (Kind kind : Kind.values()) {
      counts.put(kind, new HashMap<>());
    }
  }

  /** Notes that the driver gave a number; the driver may give the same number several times. */
  synchronized void add(Kind kind, long number) {
    counts.get(kind).merge(number, 1, Integer::sum);
  }

  /** Notes that one use of a number has ended. */
  synchronized void remove(Kind kind, long number) {
    counts.get(kind).computeIfPresent(number, (key, count) -> count == 1 ? null : count - 1);
  }

  public synchronized boolean has(Kind kind, long number) {
    return counts.get(kind).containsKey(number);
  }
}
