package graft.remoting.server.mps;

import graft.remoting.server.control.WorkerLog;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the control daemon of NVIDIA's MPS says of itself: that it listens, that a program's fault
 * has ended the work of all, and its end. It is known by what it prints (driver 580), since it has
 * no other interface that tells of faults. Workers can write into its log, so that lines are read
 * as a worker's are.
 */
public final class MpsDaemon {
  private static final Logger LOG = LoggerFactory.getLogger(MpsDaemon.class);
  private static final Duration START_LIMIT = Duration.ofSeconds(20);
  private static final String LISTENS = "Starting control daemon";
  private static final String FAULT = "handling a fatal GPU error";
  private static final int LAST_LINES = 3;

  private final CountDownLatch settled = new CountDownLatch(1);
  private final Deque<String> last = new ArrayDeque<>();
  private final Runnable onFault;
  private final Consumer<String> onEnd;
  private volatile boolean listens;

  private MpsDaemon(Runnable onFault, Consumer<String> onEnd) {
    this.onFault = onFault;
    this.onEnd = onEnd;
  }

  /**
   * Reads what a daemon prints, until its end, on a thread of its own.
   *
   * @param onFault what to do when a program's fault has ended the work of all
   * @param onEnd what to do when the daemon, which has listened, has ended; gets what it said last
   */
  public static MpsDaemon follow(InputStream log, Runnable onFault, Consumer<String> onEnd) {
    MpsDaemon daemon = new MpsDaemon(onFault, onEnd);
    Thread thread = new Thread(null, () -> daemon.read(log), "graft-mps", 128 * 1024);
    thread.setDaemon(true);
    thread.start();
    return daemon;
  }

  /** Waits until the daemon listens. Returns whether it does, or has ended or is too late. */
  public boolean awaitStart() {
    try {
      if (!settled.await(START_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.debug("{} has not said that it listens", Mps.PROGRAM);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return listens;
  }

  /** Returns why it does not listen: what it said last. */
  public String failure() {
    return Mps.PROGRAM
        + (settled.getCount() == 0 ? " has ended: " : " does not listen: ")
        + String.join(" ", lastLines());
  }

  private void read(InputStream log) {
    try {
      WorkerLog.lines(log, (line, length) -> take(WorkerLog.text(line, length)));
    } finally {
      settled.countDown();
      if (listens) {
        onEnd.accept(String.join(" ", lastLines()));
      }
    }
  }

  private void take(String line) {
    LOG.debug("mps: {}", line);
    synchronized (last) {
      last.addLast(line);
      if (last.size() > LAST_LINES) {
        last.removeFirst();
      }
    }
    if (line.contains(LISTENS)) {
      listens = true;
      settled.countDown();
    } else if (line.contains(FAULT)) {
      onFault.run();
    }
  }

  private Deque<String> lastLines() {
    synchronized (last) {
      return new ArrayDeque<>(last);
    }
  }
}
