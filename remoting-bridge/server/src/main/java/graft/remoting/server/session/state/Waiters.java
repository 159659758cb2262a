package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Threads that wait for the device in place of the session's executor, so that the executor goes on
 * with other records.
 */
public final class Waiters {
  private static final long STACK = 256 << 10;

  /** CU_STREAM_CAPTURE_MODE_RELAXED. */
  private static final int CAPTURE_MODE_RELAXED = 2;

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

  /**
   * Allows this thread calls that would invalidate another thread's stream capture. One thread
   * makes the calls of all the client's threads here, so that the driver cannot tell which of them
   * has begun a capture.
   */
  public static void relaxCapture(CudaDevice device) {
    try (Scratch mode = new Scratch(4)) {
      Memory.putInt(mode.address(), CAPTURE_MODE_RELAXED);
      device.cuThreadExchangeStreamCaptureMode(mode.address());
    }
  }

  /** Runs a task on a thread to which {@code context} is current. */
  public void submit(SessionContext context, Runnable task) {
    threads.execute(
        () -> {
          context.enter(device);
          relaxCapture(device);
          task.run();
        });
  }
}
