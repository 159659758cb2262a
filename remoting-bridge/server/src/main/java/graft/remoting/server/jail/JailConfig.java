package graft.remoting.server.jail;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a server's workers are confined.
 *
 * @param isRequired whether the server refuses to start if the host does not allow all parts of the
 *     jail
 * @param firstUser the first of the users that workers run as, one worker a user
 * @param lastUser the last of these users
 * @param memory the limit of a worker's memory in bytes, set by its cgroup; half of the host's
 *     memory if empty
 * @param threads the limit of a worker's threads
 * @param mps the control daemon of NVIDIA's MPS, if the workers are its clients. It serves one user
 *     at a time, so that they all run as one user then, the first that no other server has
 * @param profiler the absolute path of NVIDIA's profiling library, if workers may load it
 */
public record JailConfig(
    boolean isRequired,
    int firstUser,
    int lastUser,
    OptionalLong memory,
    int threads,
    Optional<Path> mps,
    Optional<Path> profiler) {
  /**
   * Linux has no registered range for this; systemd's "Users, Groups, UIDs and GIDs on systemd
   * Systems" lists 1879048192 to 2147352575 as unused by anybody.
   */
  public static final int FIRST_USER = 1_990_000_000;

  private static final int USERS = 10_000;
  private static final int THREADS = 4_096;
  private static final int NOBODY = 65_534;

  /** Checks that the settings are in range. */
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

  /** Returns the settings for all that the host allows, with the default limits. */
  public static JailConfig defaults() {
    return new JailConfig(
        false,
        FIRST_USER,
        FIRST_USER + USERS - 1,
        OptionalLong.empty(),
        THREADS,
        Optional.empty(),
        Optional.empty());
  }

  /** Returns a copy with another requirement. */
  public JailConfig withRequired(boolean value) {
    return new JailConfig(value, firstUser, lastUser, memory, threads, mps, profiler);
  }

  /** Returns a copy with other users. */
  public JailConfig withUsers(int first, int last) {
    return new JailConfig(isRequired, first, last, memory, threads, mps, profiler);
  }

  /** Returns a copy with another limit of memory, in bytes. */
  public JailConfig withMemory(long bytes) {
    return new JailConfig(
        isRequired, firstUser, lastUser, OptionalLong.of(bytes), threads, mps, profiler);
  }

  /** Returns a copy with another limit of threads. */
  public JailConfig withThreads(int count) {
    return new JailConfig(isRequired, firstUser, lastUser, memory, count, mps, profiler);
  }

  /** Returns a copy whose workers are clients of this control daemon of NVIDIA's MPS. */
  public JailConfig withMps(Path daemon) {
    return new JailConfig(
        isRequired, firstUser, lastUser, memory, threads, Optional.of(daemon), profiler);
  }

  /** Returns a copy whose workers may load this profiling library. */
  public JailConfig withProfiler(Path library) {
    return new JailConfig(
        isRequired, firstUser, lastUser, memory, threads, mps, Optional.of(library));
  }

  /** Returns whether the workers are clients of NVIDIA's MPS. */
  public boolean usesMps() {
    return mps.isPresent();
  }
}
