package graft.remoting.server.session.code;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.Set;

/**
 * Options of the JIT compiler in the form that the driver takes: a list of names and a list of
 * values.
 */
public final class JitOptions implements AutoCloseable {
  // CUjit_option.
  private static final int INFO_LOG = 3;
  private static final int INFO_LOG_SIZE = 4;
  private static final int ERROR_LOG = 5;
  private static final int ERROR_LOG_SIZE = 6;

  /** The options whose value is a number rather than a pointer into the client's memory. */
  private static final Set<Integer> PLAIN =
      Set.of(0, 1, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 29, 30, 31, 32, 33);

  private static final int MOST = 64;

  /**
   * The options that a client asks for.
   *
   * @param pairs of an option and its value, {@code words} numbers
   * @param infoLog where the compiler's messages are written, like {@code errorLog}; 0 for nowhere
   */
  public record Wanted(long pairs, int words, long infoLog, long errorLog, int logCapacity) {
    JitOptions open() {
      JitOptions options = new JitOptions();
      options.addAll(pairs, words);
      options.logs(infoLog, errorLog, logCapacity);
      return options;
    }
  }

  private final Scratch names = new Scratch(4 * (MOST + 4));
  private final Scratch values = new Scratch(8 * (MOST + 4));
  private int count;

  /** Adds pairs of an option and its value, without those that point into the client's memory. */
  void addAll(long pairs, int words) {
    for (int i = 0; pairs != 0 && i + 1 < Math.min(words, 2 * MOST); i += 2) {
      int option = (int) Memory.getLong(pairs + 8L * i);
      if (PLAIN.contains(option) && count < MOST) {
        add(option, Memory.getLong(pairs + 8L * i + 8));
      }
    }
  }

  /** Adds buffers for the compiler's messages; 0 for a buffer that the client does not want. */
  void logs(long info, long error, int capacity) {
    if (info != 0 && capacity > 0) {
      add(INFO_LOG, info);
      add(INFO_LOG_SIZE, capacity);
    }
    if (error != 0 && capacity > 0) {
      add(ERROR_LOG, error);
      add(ERROR_LOG_SIZE, capacity);
    }
  }

  private void add(int option, long value) {
    Memory.putInt(names.address() + 4L * count, option);
    Memory.putLong(values.address() + 8L * count, value);
    count++;
  }

  int count() {
    return count;
  }

  long names() {
    return names.address();
  }

  long values() {
    return values.address();
  }

  @Override
  public void close() {
    names.close();
    values.close();
  }
}
