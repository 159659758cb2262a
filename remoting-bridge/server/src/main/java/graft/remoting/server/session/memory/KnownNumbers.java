package graft.remoting.server.session.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * Numbers that the driver gave and that clients see as they are, where CUDA's interface has 64 bits
 * instead of a pointer: to the driver they are pointers too. One that it did not give is refused.
 */
public final class KnownNumbers {
  /** What a number names. */
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

  /** The driver gave it; perhaps once more. */
  synchronized void add(Kind kind, long number) {
    counts.get(kind).merge(number, 1, Integer::sum);
  }

  /** It was ended once. */
  synchronized void remove(Kind kind, long number) {
    counts.get(kind).computeIfPresent(number, (key, count) -> count == 1 ? null : count - 1);
  }

  public synchronized boolean has(Kind kind, long number) {
    return counts.get(kind).containsKey(number);
  }
}
