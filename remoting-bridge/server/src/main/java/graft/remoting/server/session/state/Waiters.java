package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Threads that wait for the device in place of the session's executor, so that other records go on.
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
   * Lets this thread make calls that would spoil a stream capture which another thread of the
   * client has begun: whose call is whose the driver cannot tell here, since one thread makes them
   * all.
   */
  public static void relaxCapture(CudaDevice device) {
    try (Scratch mode = new Scratch(4)) {
      Memory.putInt(mode.address(), CAPTURE_MODE_RELAXED);
      device.cuThreadExchangeStreamCaptureMode(mode.address());
    }
  }

  /** Runs a task on a thread where {@code context} is current. */
  public void submit(SessionContext context, Runnable task) {
    threads.execute(
        () -> {
          context.enter(device);
          relaxCapture(device);
          task.run();
        });
  }
}
