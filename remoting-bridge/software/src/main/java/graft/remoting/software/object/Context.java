package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import graft.remoting.software.exec.DeviceFault;
import graft.remoting.software.module.LoadedModule;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A CUcontext: its streams, whose tasks it orders, its modules and limits, and the error that a
 * kernel caused, which every later call returns.
 */
public final class Context {
  private static final Logger LOG = LoggerFactory.getLogger(Context.class);

  private final Gpu gpu;
  private final int flags;
  private final boolean primary;
  private final Stream legacy = new Stream(this, 0, 0, 1);
  private final Set<Stream> streams = ConcurrentHashMap.newKeySet();
  private final Map<Object, LoadedModule> modules = new ConcurrentHashMap<>();
  private final Map<Integer, Long> limits = new ConcurrentHashMap<>();
  private final ThreadLocal<Stream> perThread;
  private volatile int error;
  private volatile boolean destroyed;
  private long handle;
  private int cacheConfig;
  private long lastStreamId = 2;

  public Context(Gpu gpu, int flags, boolean primary) {
    this.gpu = gpu;
    this.flags = flags;
    this.primary = primary;
    this.perThread = ThreadLocal.withInitial(() -> addStream(0, 0));
    limits.put(0, 1024L); // stack of a thread
    limits.put(1, 1L << 20); // printf buffer
    limits.put(2, 8L << 20); // malloc heap
  }

  public Gpu gpu() {
    return gpu;
  }

  public int flags() {
    return flags;
  }

  public boolean isPrimary() {
    return primary;
  }

  public long handle() {
    return handle;
  }

  public void setHandle(long value) {
    handle = value;
  }

  public Map<Integer, Long> limits() {
    return limits;
  }

  public int cacheConfig() {
    return cacheConfig;
  }

  public void setCacheConfig(int value) {
    cacheConfig = value;
  }

  /** Returns the modules, by the library or module object that they were loaded from. */
  public Map<Object, LoadedModule> modules() {
    return modules;
  }

  /** Returns the CUresult that ended the context, 0 if none did. */
  public int error() {
    return error;
  }

  public boolean isDestroyed() {
    return destroyed;
  }

  // ---- streams and the order of tasks

  /**
   * Returns the legacy default stream, which waits for blocking streams, and which they wait for.
   */
  public Stream legacy() {
    return legacy;
  }

  public Stream perThread() {
    return perThread.get();
  }

  public Stream addStream(int streamFlags, int priority) {
    Stream made;
    synchronized (this) {
      made = new Stream(this, streamFlags, priority, ++lastStreamId);
    }
    streams.add(made);
    return made;
  }

  public void removeStream(Stream stream) {
    Task last;
    synchronized (this) {
      last = stream.last();
    }
    stream.setCapture(null);
    // The destroyed stream's work goes on, and the legacy stream must still wait for it.
    if (last == null || last.isDone()) {
      streams.remove(stream);
    } else {
      submit(stream, () -> streams.remove(stream), List.of());
    }
  }

  private synchronized List<Task> before(Stream stream) {
    List<Task> before = new ArrayList<>();
    before.add(stream.last());
    if (stream == legacy) {
      for (Stream s : streams) {
        if (s.isBlocking()) {
          before.add(s.last());
        }
      }
    } else if (stream.isBlocking()) {
      before.add(legacy.last());
    }
    return before;
  }

  /** Refuses a call that waits for all streams, if one captures, and ends the captures by it. */
  public void endCaptures() {
    if (endCaptures(stream -> true)) {
      throw new CudaException(CudaResult.STREAM_CAPTURE_UNSUPPORTED, "a stream captures");
    }
  }

  /**
   * Refuses work in a stream, and a question about its work, if that is the legacy default stream
   * and a stream that waits for it captures; and ends such captures.
   */
  public void refuseImplicitDependency(Stream stream) {
    if (stream == legacy && endCaptures(Stream::isBlocking)) {
      throw implicitDependency();
    }
  }

  /** Refuses a question about what a stream captures, in the same case. */
  public void refuseUnknownCapture(Stream stream) {
    if (stream == legacy && streams.stream().anyMatch(s -> s.isBlocking() && s.capture() != null)) {
      throw implicitDependency();
    }
  }

  private static CudaException implicitDependency() {
    return new CudaException(
        CudaResult.STREAM_CAPTURE_IMPLICIT, "a stream that waits for the legacy stream captures");
  }

  private boolean endCaptures(Predicate<Stream> which) {
    boolean any = false;
    for (Stream stream : streams) {
      Capture capture = stream.capture();
      if (capture != null && which.test(stream)) {
        capture.invalidate();
        any = true;
      }
    }
    return any;
  }

  /** Adds work to a stream. It runs after {@code others} and what the rules of streams require. */
  public Task submit(Stream stream, Runnable body, Collection<Task> others) {
    return submit(stream, body, others, Workers.EXECUTOR);
  }

  private Task submit(Stream stream, Runnable body, Collection<Task> others, Executor executor) {
    refuseImplicitDependency(stream);
    Task task = new Task(() -> runGuarded(body), executor);
    List<Task> before;
    synchronized (this) {
      before = before(stream);
      stream.setLast(task);
    }
    before.addAll(others);
    task.start(before);
    return task;
  }

  /** Starts work that belongs to no stream, after other work. */
  public Task detached(Runnable body, Collection<Task> before) {
    Task task = new Task(() -> runGuarded(body), Workers.EXECUTOR);
    task.start(before);
    return task;
  }

  /**
   * Adds work and waits for it. Runs the work on the calling thread if nothing has to run before
   * it.
   */
  public void runInOrder(Stream stream, Runnable body) {
    boolean idle;
    synchronized (this) {
      idle = before(stream).stream().allMatch(t -> t == null || t.isDone());
    }
    if (idle) {
      submit(stream, body, List.of(), Runnable::run).await();
    } else {
      submit(stream, body, List.of()).await();
    }
  }

  private void runGuarded(Runnable body) {
    if (error != 0) {
      return;
    }
    try {
      body.run();
    } catch (DeviceFault e) {
      error = e.code();
    } catch (CudaException e) {
      error = e.code();
      LOG.error("a stream's work failed: {}", e.getMessage());
    } catch (RuntimeException | Error e) {
      error = 999;
      LOG.error("a stream's work failed with an internal error of the software device", e);
    }
  }

  public void awaitStream(Stream stream) {
    List<Task> tasks;
    synchronized (this) {
      tasks = stream == legacy ? before(stream) : new ArrayList<>(List.of());
      if (stream != legacy) {
        tasks.add(stream.last());
      }
    }
    tasks.stream().filter(t -> t != null).forEach(Task::await);
  }

  public boolean isIdle(Stream stream) {
    synchronized (this) {
      return stream == legacy
          ? before(stream).stream().allMatch(t -> t == null || t.isDone())
          : stream.last() == null || stream.last().isDone();
    }
  }

  public void awaitAll() {
    List<Task> tasks = new ArrayList<>();
    synchronized (this) {
      tasks.add(legacy.last());
      streams.forEach(s -> tasks.add(s.last()));
    }
    tasks.stream().filter(t -> t != null).forEach(Task::await);
  }

  /** Waits for all work and frees what belongs to the context. */
  public void destroy() {
    awaitAll();
    destroyed = true;
    modules.values().forEach(LoadedModule::close);
    modules.clear();
    gpu.memory().releaseAll(this);
  }
}
