package graft.remoting.server.jail;

import java.util.OptionalLong;

/**
 * How a server's workers are confined.
 *
 * @param isRequired whether the server refuses to start where the machine cannot give all of it
 * @param firstUser the first of the users that workers run as, one each
 * @param lastUser the last of them
 * @param memory the most memory of a worker, in bytes, by its cgroup; half of this machine's if
 *     empty
 * @param threads the most threads of a worker
 */
public record JailConfig(
    boolean isRequired, int firstUser, int lastUser, OptionalLong memory, int threads) {
  /**
   * Linux has no registered range for this; systemd's "Users, Groups, UIDs and GIDs on systemd
   * Systems" lists 1879048192 to 2147352575 as unused by anybody.
   */
  public static final int FIRST_USER = 1_990_000_000;

  private static final int USERS = 10_000;
  private static final int THREADS = 4_096;
  private static final int NOBODY = 65_534;

  /** Checks the numbers. */
  public JailConfig {
    if (firstUser < 1 || lastUser < firstUser || (firstUser <= NOBODY && lastUser >= NOBODY)) {
      throw new IllegalArgumentException(
          "workers' users %d to %d: name a range without root (0) and nobody (%d)"
              .formatted(firstUser, lastUser, NOBODY));
    }
    if (threads < 64 || (memory.isPresent() && memory.getAsLong() < 256L << 20)) {
      throw new IllegalArgumentException("a worker needs 64 threads and 256 MiB of memory");
    }
  }

  /** All that the machine can give, with the usual limits. */
  public static JailConfig defaults() {
    return new JailConfig(false, FIRST_USER, FIRST_USER + USERS - 1, OptionalLong.empty(), THREADS);
  }

  /** The same, but required or not. */
  public JailConfig withRequired(boolean value) {
    return new JailConfig(value, firstUser, lastUser, memory, threads);
  }

  /** The same with other users. */
  public JailConfig withUsers(int first, int last) {
    return new JailConfig(isRequired, first, last, memory, threads);
  }

  /** The same with that much memory, in bytes. */
  public JailConfig withMemory(long bytes) {
    return new JailConfig(isRequired, firstUser, lastUser, OptionalLong.of(bytes), threads);
  }

  /** The same with that many threads. */
  public JailConfig withThreads(int count) {
    return new JailConfig(isRequired, firstUser, lastUser, memory, count);
  }
}
