package graft.cli.terminal;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The end of a command that serves until the process is told to end: SIGTERM or Ctrl-C ends {@link
 * #await}, and the process ends once the command has closed what it served.
 */
public final class ShutdownSignal implements AutoCloseable {
  private final CountDownLatch came = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * Listens from now on. The shutdown hook waits for {@link #close} alone and not for the command's
   * thread, which may block in {@link System#exit} until the shutdown is over.
   *
   * @param limit how long the process waits for the command
   */
  public void listen(Duration limit) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  came.countDown();
                  try {
                    closed.await(limit.toMillis(), TimeUnit.MILLISECONDS);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                }));
  }

  /** Waits until the process is told to end. */
  public void await() throws InterruptedException {
    came.await();
  }

  /** Says that the command has closed what it served, so that the process may end. */
  @Override
  public void close() {
    closed.countDown();
  }
}
