package graft.remoting.server.accept;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits the refusals that the server logs to {@link #PER_SECOND} a second for each source. Beyond
 * that number, connections that have not authenticated get no answer, which limits the rate at
 * which a source can guess tokens, and the server verifies no certificates of that source.
 * Authenticated guests always get the reason of a refusal.
 */
final class RefusalBudget {
  static final int PER_SECOND = 20;

  /** The number of sources in one second that have separate budgets; further ones share one. */
  static final int MAX_SOURCES = 1_024;

  private static final long SECOND = 1_000_000_000L;
  private static final String OTHERS = "";

  private static final class Window {
    private final long start;
    private int refusals;

    private Window(long start) {
      this.start = start;
    }

    private boolean isOver(long now) {
      return now - start >= SECOND;
    }
  }

  @GuardedBy("this")
  private final Map<String, Window> windows = new HashMap<>();

  /**
   * Whether a source has used up its refusals of the current second.
   *
   * @param now {@code System.nanoTime()}
   */
  synchronized boolean isSpent(String source, long now) {
    Window window = windows.get(windows.containsKey(source) ? source : OTHERS);
    return window != null && !window.isOver(now) && window.refusals >= PER_SECOND;
  }

  /**
   * Counts one refusal.
   *
   * @param now {@code System.nanoTime()}
   * @return the number of refusals of this source in the current second, including this one
   */
  synchronized int count(String source, long now) {
    if (windows.size() >= MAX_SOURCES && !windows.containsKey(source)) {
      windows.values().removeIf(window -> window.isOver(now));
    }
    String key = windows.size() < MAX_SOURCES || windows.containsKey(source) ? source : OTHERS;
    Window window = windows.get(key);
    if (window == null || window.isOver(now)) {
      window = new Window(now);
      windows.put(key, window);
    }
    return ++window.refusals;
  }
}
