package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Threads that wait for the device in place of the session's executor, so that other records go on.
 */
final class Waiters {
  private static final long STACK = 256 << 10;

  private final CudaDevice device;
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(null, task, "graft-waiter", STACK);
            thread.setDaemon(true);
            return thread;
          });

  Waiters(CudaDevice device) {
    this.device = device;
  }

  /** Runs a task on a thread where {@code context} is current. */
  void submit(SessionContext context, Runnable task) {
    threads.execute(
        () -> {
          context.enter(device);
          task.run();
        });
  }
}
