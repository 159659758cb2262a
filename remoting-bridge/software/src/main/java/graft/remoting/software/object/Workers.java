package graft.remoting.software.object;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that run the tasks of streams. Threads are started when needed and end when idle. */
public final class Workers {
  private static final long STACK_BYTES = 64L << 20;
  private static final AtomicInteger NUMBER = new AtomicInteger();

  public static final ThreadPoolExecutor EXECUTOR =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          20,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread t =
                new Thread(null, task, "software-stream-" + NUMBER.incrementAndGet(), STACK_BYTES);
            t.setDaemon(true);
            return t;
          });

  private Workers() {}
}
