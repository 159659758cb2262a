package graft.remoting.server.system;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Whether threads that poll compete for the host's CPUs: as many threads want to run as there are
 * CPUs, so that none is left for one that wakes, or a thread that polls finds that it did not run
 * for a while. A thread that polls without pause then keeps others from running, one of which it
 * may wait for. The kernel does not share the CPU evenly between them: a thread of another control
 * group that has slept a lot can wait for hundreds of milliseconds. Thread-safe.
 */
public final class CpuContention {
  /**
   * How long threads that wait for bytes poll in spite of contention. A thread that sleeps waits
   * for a CPU when it wakes, up to 4 ms: as long as the executor would sleep between any two calls.
   */
  public static final long MOMENT_NANOS = 250_000;

  /** How long a poll takes at least if the thread was not running meanwhile. */
  private static final long NOT_RUNNING_NANOS = 500_000;

  /** For how long it counts that a thread was not running. */
  private static final long LASTS_NANOS = 100_000_000;

  /** How often it is looked how many threads want to run, which takes a few microseconds. */
  private static final long LOOK_NANOS = 250_000;

  /** What the system says of its load: three averages, and "RUNNABLE/ALL" threads. */
  private static final Path LOADS = Path.of("/proc/loadavg");

  /** All CPUs of the machine, also those that this process may not use: the load is of all. */
  private static final Path CPUS = Path.of("/sys/devices/system/cpu/online");

  private static final CpuContention SHARED = new CpuContention(LOADS, CPUS);

  private final int cpus;

  /** Null if this system does not say what its load is. */
  @GuardedBy("this")
  private final FileChannel loads;

  @GuardedBy("this")
  private final ByteBuffer text = ByteBuffer.allocateDirect(128);

  private volatile long until = System.nanoTime();
  private volatile long looked = System.nanoTime() - LOOK_NANOS;
  private volatile boolean isCrowded;

  /** Returns what all threads of this process share. */
  public static CpuContention shared() {
    return SHARED;
  }

  /** Reads other files than the system's, for tests. */
  CpuContention(Path load, Path online) {
    int number;
    FileChannel file = null;
    try {
      number = cpus(Files.readString(online));
      file = FileChannel.open(load, StandardOpenOption.READ);
    } catch (IOException | NumberFormatException e) {
      number = Integer.MAX_VALUE; // threads poll as if they were alone
    }
    cpus = number;
    loads = file;
  }

  /** Returns the number of CPUs of a list such as "0-3,8". */
  private static int cpus(String list) {
    return Arrays.stream(list.strip().split(",", -1))
        .map(range -> range.split("-", -1))
        .mapToInt(ends -> Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1)
        .sum();
  }

  /** Returns whether there is contention; {@code now} is of System.nanoTime. */
  public boolean isSeen(long now) {
    if (now - looked >= LOOK_NANOS) {
      looked = now;
      isCrowded = look();
    }
    return isCrowded || now - until < 0;
  }

  /**
   * Notes when a thread polled.
   *
   * @param last when it polled before, without a pause since
   * @return whether there is contention
   */
  public boolean polled(long last, long now) {
    if (now - last >= NOT_RUNNING_NANOS) {
      until = now + LASTS_NANOS;
    }
    return isSeen(now);
  }

  private synchronized boolean look() {
    if (loads == null) {
      return false;
    }
    text.clear();
    try {
      int length = loads.read(text, 0);
      int at = 0;
      for (int spaces = 0; at < length && spaces < 3; at++) {
        spaces += text.get(at) == ' ' ? 1 : 0;
      }
      int runnable = 0;
      for (; at < length && text.get(at) >= '0' && text.get(at) <= '9'; at++) {
        runnable = Math.min(runnable, 1 << 20) * 10 + text.get(at) - '0';
      }
      return runnable >= cpus;
    } catch (IOException e) {
      return false;
    }
  }
}
