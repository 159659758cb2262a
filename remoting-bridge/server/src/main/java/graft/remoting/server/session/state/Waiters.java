package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.system.Scratch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.LongToIntFunction;

/**
 * Waits for the device in place of the session's executor, so that the executor goes on with other
 * records. The first waits each have a thread, which is the fastest way to notice an event. Further
 * ones are all polled by one thread ({@link EventPoller}), so that the number of threads does not
 * depend on the number of waits. Each wait counts as host memory, one for several events as often
 * as it has events.
 */
public final class Waiters {
  private static final long STACK = 256 << 10;

  /** The largest number of waits that have a thread. */
  private static final int DIRECT = 16;

  /** The largest number of contexts that are waited for at once, and of copies that are sent. */
  private static final int BLOCKING = 8;

  private static final long IDLE_SECONDS = 60;

  /** How many bytes {@link #drain} allocates, in order to free them. */
  private static final int DRAINING_BYTES = 4096;

  /** CU_STREAM_CAPTURE_MODE_RELAXED. */
  private static final int CAPTURE_MODE_RELAXED = 2;

  private final CudaDevice device;
  private final HostMemory memory;
  private final LongToIntFunction awaitEvent;
  private final EventPoller poller;

  private final Executor direct =
      new ThreadPoolExecutor(
          0,
          DIRECT,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> thread(task, "graft-waiter"));

  private final Executor contexts = blocking("graft-context-wait");
  private final Executor copies = blocking("graft-copy-wait");

  /** At most one task runs here, the sender of asynchronous reads. */
  private final Executor sender =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> thread(task, "graft-read-sender"));

  /** The waits for each context that begin when the current wait for it is over. */
  @GuardedBy("contextWaits")
  private final Map<SessionContext, List<IntConsumer>> contextWaits = new HashMap<>();

  /**
   * Creates the waits of a session.
   *
   * @param awaitEvent waits for an event on the calling thread, and returns its result
   */
  Waiters(CudaDevice device, HostMemory memory, LongToIntFunction awaitEvent) {
    this.device = device;
    this.memory = memory;
    this.awaitEvent = awaitEvent;
    this.poller = new EventPoller(device, task -> thread(task, "graft-event-poll"));
  }

  private static Thread thread(Runnable task, String name) {
    Thread thread = new Thread(null, task, name, STACK);
    thread.setDaemon(true);
    return thread;
  }

  private static Executor blocking(String name) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            BLOCKING,
            BLOCKING,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> thread(task, name));
    threads.allowCoreThreadTimeOut(true);
    return threads;
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

  private void count(int objects) {
    if (!memory.take(objects * HostMemory.OBJECT)) {
      throw new RefusedCallException(CudaResult.OUT_OF_MEMORY);
    }
  }

  private void over(int objects) {
    memory.give(objects * HostMemory.OBJECT);
  }

  private Runnable in(SessionContext context, Runnable task) {
    return () -> {
      context.enter(device);
      relaxCapture(device);
      task.run();
    };
  }

  /**
   * Waits for an event and then runs {@code done}, which gets the event's result and must not wait
   * for the device.
   *
   * @throws RefusedCallException with CUDA_ERROR_OUT_OF_MEMORY if the session may have no further
   *     wait
   */
  public void await(SessionContext context, long event, IntConsumer done) {
    awaitEach(context, new long[] {event}, done);
  }

  /**
   * Waits for the work that is queued in a stream now, as {@link #await} does for an event.
   *
   * @throws RefusedCallException with the device's result if the event cannot be recorded, or with
   *     CUDA_ERROR_OUT_OF_MEMORY if the session may have no further wait
   */
  public void awaitWork(SessionContext context, long stream, IntConsumer done) {
    awaitRecorded(context, new long[] {context.events().record(stream)}, done);
  }

  /**
   * Waits for events of the context's pool one after the other, as {@link #await} does for one, and
   * gives the events back in any case; {@code done} gets the first error.
   *
   * @throws RefusedCallException with CUDA_ERROR_OUT_OF_MEMORY if the session may have no further
   *     wait
   */
  public void awaitRecorded(SessionContext context, long[] events, IntConsumer done) {
    EventPool pool = context.events();
    try {
      awaitEach(
          context,
          events,
          result -> {
            pool.give(events);
            done.accept(result);
          });
    } catch (RefusedCallException e) {
      pool.give(events);
      throw e;
    }
  }

  private void awaitEach(SessionContext context, long[] events, IntConsumer done) {
    IntConsumer counted =
        result -> {
          over(events.length);
          done.accept(result);
        };
    start(
        context,
        events[0],
        events.length,
        () -> counted.accept(firstError(events)),
        result -> poll(context, events, 1, counted, result));
  }

  private int firstError(long[] events) {
    int result = CudaResult.SUCCESS;
    for (int i = 0; i < events.length && result == CudaResult.SUCCESS; i++) {
      result = awaitEvent.applyAsInt(events[i]);
    }
    return result;
  }

  /** Has the events from {@code next} on polled, if those before have occurred. */
  private void poll(SessionContext context, long[] events, int next, IntConsumer done, int before) {
    if (before != CudaResult.SUCCESS || next == events.length) {
      done.accept(before);
    } else {
      poller.add(context, events[next], result -> poll(context, events, next + 1, done, result));
    }
  }

  private void finish(IntConsumer done, int result) {
    over(1);
    done.accept(result);
  }

  /**
   * Waits for an event and then runs a task that may wait for the device itself.
   *
   * @throws RefusedCallException with CUDA_ERROR_OUT_OF_MEMORY if the session may have no further
   *     wait
   */
  public void awaitThenRun(SessionContext context, long event, Runnable task) {
    Runnable counted =
        () -> {
          over(1);
          task.run();
        };
    start(context, event, 1, counted, result -> copies.execute(in(context, counted)));
  }

  private void start(
      SessionContext context,
      long event,
      int objects,
      Runnable onItsOwnThread,
      IntConsumer polled) {
    count(objects);
    try {
      direct.execute(in(context, onItsOwnThread));
    } catch (RejectedExecutionException e) {
      poller.add(context, event, polled); // all threads are taken
    }
  }

  /**
   * Waits for all work of a context and then runs {@code done} with the result. The waits of one
   * context share a thread: a wait that arrives during another one begins when that one is over.
   *
   * @throws RefusedCallException with CUDA_ERROR_OUT_OF_MEMORY if the session may have no further
   *     wait
   */
  public void awaitContext(SessionContext context, IntConsumer done) {
    count(1);
    synchronized (contextWaits) {
      List<IntConsumer> others = contextWaits.get(context);
      if (others != null) {
        others.add(done);
        return;
      }
      contextWaits.put(context, new ArrayList<>(List.of(done)));
    }
    contexts.execute(in(context, () -> synchronizeContext(context)));
  }

  /**
   * Waits for all work of a context as {@link #drain} does, and then runs {@code done} with the
   * result.
   *
   * @throws RefusedCallException with CUDA_ERROR_OUT_OF_MEMORY if the session may have no further
   *     wait
   */
  public void awaitDrained(SessionContext context, IntConsumer done) {
    count(1);
    contexts.execute(in(context, () -> finish(done, drain(device))));
  }

  /**
   * Waits for all work of the current context but that which is captured, and leaves captures
   * alone, which {@code cuCtxSynchronize} would end: as the driver does before it frees host
   * memory. The thread must have {@linkplain #relaxCapture been allowed} that.
   */
  static int drain(CudaDevice device) {
    try (Scratch scratch = new Scratch(Long.BYTES)) {
      int result = device.cuMemHostAlloc(scratch.address(), DRAINING_BYTES, 0);
      return result != CudaResult.SUCCESS
          ? result
          : device.cuMemFreeHost(Memory.getLong(scratch.address()));
    }
  }

  private void synchronizeContext(SessionContext context) {
    for (List<IntConsumer> waits = nextWaits(context);
        !waits.isEmpty();
        waits = nextWaits(context)) {
      int result = device.cuCtxSynchronize();
      waits.forEach(done -> finish(done, result));
    }
  }

  private List<IntConsumer> nextWaits(SessionContext context) {
    synchronized (contextWaits) {
      List<IntConsumer> waits = contextWaits.remove(context);
      if (!waits.isEmpty()) {
        contextWaits.put(context, new ArrayList<>());
      }
      return waits;
    }
  }

  /** Runs the sender of asynchronous reads, which waits for the device and the client. */
  void send(SessionContext context, Runnable task) {
    sender.execute(in(context, task));
  }

  /** Runs a task that queries the device and does not wait for it, on another thread, at once. */
  void soon(SessionContext context, Runnable task) {
    poller.add(context, task);
  }
}
