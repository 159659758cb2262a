package graft.remoting.server.worker;

import graft.remoting.server.system.Libc;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Gives memory that only the warm-up needed back to the host, once, if the worker still waits for
 * its client a while later. During a session it is not done, since it would hold calls up for
 * milliseconds.
 */
final class IdleMemory {
  /** Java's compilers keep their memory for five seconds, and give it to the C library then. */
  private static final long AFTER_MILLIS = 7_000;

  private static final long STACK = 256 << 10;

  private final long afterMillis;
  private final Runnable giveBack;
  private final CountDownLatch over = new CountDownLatch(1);

  IdleMemory() {
    this(AFTER_MILLIS, () -> Libc.malloc_trim(0));
  }

  /** Gives memory back by other means, for tests. */
  IdleMemory(long afterMillis, Runnable giveBack) {
    this.afterMillis = afterMillis;
    this.giveBack = giveBack;
  }

  /** The worker begins to wait. */
  void begin() {
    Thread thread = new Thread(null, this::run, "graft-idle-memory", STACK);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      if (!over.await(afterMillis, TimeUnit.MILLISECONDS)) {
        giveBack.run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The worker has its client. */
  void end() {
    over.countDown();
  }
}
