package graft.remoting.server.accept;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.Map;

/**
 * How many refusals of one source the server logs: {@link #PER_SECOND} in a second. Connections
 * that have not authenticated get no answer beyond that number, so that guessing tokens goes no
 * faster; authenticated guests are always told why they are refused.
 */
final class RefusalBudget {
  static final int PER_SECOND = 20;

  /** Beyond so many sources in one second, all further sources share one budget. */
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
   * Counts one refusal.
   *
   * @param now {@code System.nanoTime()}
   * @return how many refusals of this source the current second has seen, this one included
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
