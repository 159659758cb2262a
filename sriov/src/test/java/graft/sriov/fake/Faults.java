package graft.sriov.fake;

import graft.sriov.HostException;
import graft.sriov.files.Errno;
import graft.sriov.files.WriteFailedException;
import graft.sriov.files.WriteHangsException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Injects errors and delays. No time passes: a delay above the caller's limit throws the error at
 * once, and {@link FakeSysfs#settle} makes the write take effect.
 */
public final class Faults {
  private record Rule(Pattern path, Errno errno, Duration delay, int times) {}

  private final List<Rule> rules = new ArrayList<>();
  private int count;
  private int failAt = -1;
  private boolean failAfterEffect;

  /** Lets the next {@code times} writes to a path that matches the pattern fail. */
  public void fail(String pathPattern, Errno errno, int times) {
    rules.add(new Rule(Pattern.compile(pathPattern), errno, Duration.ZERO, times));
  }

  /** Delays every write to a path that matches the pattern. */
  public void delay(String pathPattern, Duration delay) {
    rules.add(new Rule(Pattern.compile(pathPattern), null, delay, Integer.MAX_VALUE));
  }

  /** Delays every write to a path that matches the pattern without end. */
  public void hang(String pathPattern) {
    delay(pathPattern, Duration.ofDays(1));
  }

  /**
   * Lets the {@code number}th change from now, counted from 1, fail before or after its effect, as
   * after a time limit or a crash.
   */
  public void failChange(int number, boolean afterEffect) {
    count = 0;
    failAt = number;
    failAfterEffect = afterEffect;
  }

  /** Removes all faults. */
  public void none() {
    rules.clear();
    failAt = -1;
  }

  /** The number of changes since the last {@link #failChange}. */
  public int changes() {
    return count;
  }

  /** Makes a change, or throws in its place. */
  void change(String path, String value, Duration limit, List<Runnable> late, Runnable effect) {
    count++;
    boolean now = count == failAt;
    if (now && !failAfterEffect) {
      throw new InjectedFault(path, value);
    }
    for (Iterator<Rule> i = List.copyOf(rules).iterator(); i.hasNext(); ) {
      Rule rule = i.next();
      if (!rule.path.matcher(path).find()) {
        continue;
      }
      if (rule.errno != null) {
        rules.remove(rule);
        if (rule.times > 1) {
          rules.add(new Rule(rule.path, rule.errno, rule.delay, rule.times - 1));
        }
        throw new WriteFailedException(path, value, rule.errno);
      }
      if (rule.delay.compareTo(limit) > 0) {
        late.add(effect);
        throw new WriteHangsException(path, value, limit, "");
      }
    }
    effect.run();
    if (now) {
      throw new InjectedFault(path, value);
    }
  }

  /** A fault that a test asked for. */
  public static final class InjectedFault extends HostException {
    private static final long serialVersionUID = 1;

    InjectedFault(String path, String value) {
      super("writing '" + value + "' failed because the test wants it", path, "Nothing");
    }
  }
}
