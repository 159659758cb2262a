package graft.remoting.server.profile;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Brings the client's numbers and the records of the work together, which CUPTI gives separately
 * and in any order. Not thread-safe.
 */
final class Numbers {
  /** As many pieces of work may be under way, or over and not read, before the oldest are lost. */
  static final int MOST = 1 << 16;

  /**
   * After so many questions work without a number is not the client's: a number may come later than
   * the work, since CUPTI keeps a buffer while any work in it is under way.
   */
  private static final int PATIENCE = 64;

  /**
   * Work whose number is not known.
   *
   * @param since the question before which it came
   */
  private record Unnumbered(WorkRecord work, long since) {}

  /**
   * Work with the client's number.
   *
   * @param number the client's
   */
  record Numbered(int number, WorkRecord work) {}

  /** The client's numbers of the latest correlations. A graph's is asked for many times. */
  private final Map<Integer, Integer> numbers =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Integer> eldest) {
          return size() > MOST;
        }
      };

  private List<Unnumbered> waiting = new ArrayList<>();
  private final Deque<Numbered> ready = new ArrayDeque<>();
  private long questions;
  private long lost;

  /** Notes that the work of a correlation has a number. */
  void name(int correlation, int number) {
    numbers.put(correlation, number);
  }

  /** Adds work that is over. */
  void add(WorkRecord work) {
    if (waiting.size() + ready.size() >= MOST) {
      lost++;
    } else {
      waiting.add(new Unnumbered(work, questions));
    }
  }

  /** Counts records that CUPTI had no room for. */
  void lose(long records) {
    lost += records;
  }

  /** Returns how many records were lost since the last call. */
  long takeLost() {
    long count = lost;
    lost = 0;
    return count;
  }

  /** Gives out work for as long as the receiver takes it. */
  void give(Receiver receiver) {
    questions++;
    List<Unnumbered> left = new ArrayList<>();
    for (Unnumbered one : waiting) {
      Integer number = numbers.get(one.work().correlation());
      if (number != null) {
        ready.add(new Numbered(number, one.work()));
      } else if (questions - one.since() <= PATIENCE) {
        left.add(one);
      }
    }
    waiting = left;
    while (!ready.isEmpty() && receiver.takes(ready.peek())) {
      ready.remove();
    }
  }

  /** Takes work. */
  interface Receiver {
    /** Takes the work, or returns false if there is no room for it. */
    boolean takes(Numbered numbered);
  }
}
