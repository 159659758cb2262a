package graft.remoting.server.session.state;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.server.exchange.GpuEngine;
import graft.remoting.server.exchange.GpuLease;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Queues a session's work on its device only while the session has its turn, and finds out for how
 * long the device has work of the session.
 *
 * <p>A driver begins queued work by itself, so that a turn is kept by not queueing: the executor
 * asks before each call that queues work. What it has queued is known to be finished when the
 * session waits for it, or by a marker, an event behind the work. Markers are recorded when the
 * executor has nothing more to do, when the turn is over, and, while other guests want the device,
 * after a few calls. A session that is alone therefore pays only for two readings of the clock. The
 * time is measured from the first call that queues work until the worker notices that all work has
 * finished, which a thread looks at every {@link #PAUSE} nanoseconds.
 *
 * <p>An event in the legacy stream would make the streams of the context wait for each other, so
 * that one is recorded there only immediately behind the session's own work in it. No marker is
 * recorded in a stream that is being captured, because the marker would become part of the graph.
 *
 * <p>The time is counted apart for copies to and from the device: while all work that has not
 * finished, as far as is known, are copies in one direction. What is queued before a marker counts
 * together, so that this needs no markers of its own.
 *
 * <p>The executor calls all methods; the events are also queried by a thread of this object.
 */
public final class GpuMeter {
  /** How often markers are looked at. */
  private static final long PAUSE = 150_000;

  /** How often they are looked at while other guests want the device. */
  private static final long SHORT_PAUSE = 20_000;

  /** How long the thread waits for a marker before it ends; the next one starts a thread. */
  private static final long THREAD_NANOS = 10_000_000_000L;

  /** For how long the thread polls without a pause when the turn is over. */
  private static final long DRAIN_POLL = 300_000;

  /** After how many calls that queue no work a marker is recorded. */
  private static final int QUIET = 32;

  /** For how long the executor polls for the end of its work when the turn is over. */
  private static final long DRAIN_NANOS =
      Runtime.getRuntime().availableProcessors() < 4 ? 0 : 2_000_000;

  /**
   * How long the executor waits for markers at most before it queues more: the work may wait for
   * what the program queues next.
   */
  private static final long LONGEST_WAIT = 10_000_000;

  private static final long LEGACY = 0;

  private final CudaDevice device;
  private final GpuLease lease;
  private final LongSupplier nanos;

  /** The pieces of work of the lease that have begun; more than one after an overrun. */
  @GuardedBy("this")
  private int pieces;

  /** Whether the executor may queue, or has queued work behind which there is no marker. */
  @GuardedBy("this")
  private boolean isOpen;

  @GuardedBy("this")
  private final WorkMarkers markers;

  @GuardedBy("this")
  private final EngineTime time;

  @GuardedBy("this")
  private boolean isTracked;

  @GuardedBy("this")
  private long lastFinished;

  private final WorkPace pace = new WorkPace();

  // Of the executor alone, which takes no lock while it has its turn and nobody else wants it.
  private SessionContext context;

  /** What the executor has set {@link #isOpen} to. */
  private boolean open;

  private final UnmarkedStreams unmarked = new UnmarkedStreams();

  /** The engines of the work behind which there is no marker, by their bits. */
  private int queued;

  /** The engine of the call that is made. */
  private int engine;

  /** Whether a call that queues work has begun and not ended. */
  private boolean isCalling;

  private int calls;

  /** The calls that queued nothing since the last one that did. */
  private int others;

  /** When all work was last known to have finished. */
  private long finishedAt;

  GpuMeter(CudaDevice device, GpuLease lease) {
    this(device, lease, System::nanoTime);
  }

  /** Creates a meter with the lease's clock. */
  GpuMeter(CudaDevice device, GpuLease lease, LongSupplier nanos) {
    this.device = device;
    this.lease = lease;
    this.nanos = nanos;
    this.markers = new WorkMarkers(device, nanos);
    this.time = new EngineTime(lease, markers.list());
  }

  /**
   * Waits until the session may queue work, which the executor then does in this context.
   *
   * @param does what the GPU will do the work with
   */
  public void beginCall(SessionContext current, GpuEngine does) {
    context = current; // what was queued in the last one has markers: SessionState.enter
    engine = does.bit();
    isCalling = true;
    if (open && lease.isUnbounded()) {
      addEngine();
      return;
    }
    if (lease.isBounded()) {
      keepShort();
    }
    if (lease.isHeld()) {
      goOn();
    } else {
      mark();
      drain();
      begin();
    }
  }

  /** Counts the call to the piece of work that goes on, or begins one. */
  private void goOn() {
    if (open || reopens()) {
      addEngine();
    } else {
      begin();
    }
  }

  private void begin() {
    lease.begin();
    synchronized (this) {
      if (pieces++ == 0) {
        time.restart();
      }
      isOpen = true;
      open = true;
      queued = engine;
      time.setUnmarked(engine);
      time.count(nanos);
    }
  }

  /** Notes the engine of the call that is made, if no work that is queued uses it. */
  private void addEngine() {
    // After a wait for all work nothing is left of what was queued, but the piece of work goes on.
    boolean finished = calls == 0 && queued != 0;
    if (finished ? queued == engine : (queued & engine) != 0) {
      return;
    }
    long at = finished ? finishedAt : nanos.getAsLong();
    queued = finished ? engine : queued | engine;
    synchronized (this) {
      time.setUnmarked(queued);
      time.count(at);
    }
  }

  /** Goes on with a piece of work that has not finished. Returns false if there is none. */
  private synchronized boolean reopens() {
    isOpen = pieces > 0;
    open = isOpen;
    return open;
  }

  /** Returns whether another guest has its turn. Any thread may call this. */
  public boolean isOutOfTurn() {
    return !lease.isHeld();
  }

  /** Notes that the call has queued its work in a stream. */
  public void endCall(long stream) {
    isCalling = false;
    calls++;
    others = 0;
    if (unmarked.add(stream, engine)) {
      mark();
    }
  }

  /** Notes that the program names a stream, before anything is queued in it. */
  public void names(long stream) {
    if (stream != LEGACY && unmarked.isLast(LEGACY)) {
      mark();
      if (isCalling) {
        goOn();
      }
    }
  }

  /** Records markers behind work that was queued a while ago; for calls that queue none. */
  public void otherCall() {
    if (calls > 0 && ++others == QUIET) {
      mark();
    }
  }

  /**
   * Records markers behind all work that has none, and ends what has finished. A stream that is
   * about to be destroyed must have been marked: the driver ends a process that names it later.
   */
  public void mark() {
    if (!open && unmarked.count() == 0) {
      return;
    }
    long end = calls > 0 ? nanos.getAsLong() : finishedAt;
    synchronized (this) {
      for (int i = 0; i < unmarked.count(); i++) {
        markers.record(context, unmarked.stream(i), unmarked.engines(i), !lease.isBounded());
      }
      isOpen = false;
      time.setUnmarked(0);
      settle(end);
      time.count(end);
      if (!markers.isEmpty()) {
        track();
      }
    }
    open = false;
    queued = 0;
    unmarked.clear();
    calls = 0;
  }

  /**
   * Keeps what is queued short, so that the device is free soon when the turn is over: waits until
   * few markers are ahead.
   */
  private void keepShort() {
    if (calls >= pace.calls()) {
      mark();
    }
    long limit = 0;
    while (!isShort() && lease.isHeld()) {
      long now = nanos.getAsLong();
      if (limit == 0) {
        limit = now + LONGEST_WAIT;
      } else if (now >= limit) {
        return;
      }
      Thread.onSpinWait();
    }
  }

  /**
   * Returns whether more may be queued. Short work is queued ahead, so that the device does not
   * wait for the executor; long work only if no guest comes that does not wait.
   */
  private synchronized boolean isShort() {
    look();
    int ahead = (lease.isShort() ? 0 : 1) + (pace.isLong() ? 0 : 1);
    return markers.count() <= ahead;
  }

  /** Polls for a moment for the end of all work. */
  private void drain() {
    long limit = nanos.getAsLong() + DRAIN_NANOS;
    while (isBusy() && nanos.getAsLong() < limit) {
      Thread.onSpinWait();
    }
  }

  private synchronized boolean isBusy() {
    look();
    return pieces > 0;
  }

  /** Notes that all work in a stream of the current context has finished. */
  public void finished(SessionContext current, long stream) {
    if (current == context && unmarked.isOnly(stream)) {
      finishedAll(current);
    }
  }

  /** Notes that all work in the current context has finished. */
  public void finishedAll(SessionContext current) {
    if (current == context && open) {
      unmarked.clear();
      calls = 0;
      finishedAt = nanos.getAsLong();
      if (!lease.isUnbounded()) {
        mark(); // others wait for the device
      }
    }
  }

  /** Forgets a stream that was destroyed, whose work may go on. */
  public synchronized void forget(long stream) {
    markers.forget(stream);
  }

  /** Forgets the markers of a context that is about to be destroyed, and with it its work. */
  void forget(SessionContext gone) {
    if (context == gone) {
      unmarked.clear();
      calls = 0;
      finishedAt = nanos.getAsLong();
      mark();
      context = null;
    }
    synchronized (this) {
      markers.forget(gone);
      long now = nanos.getAsLong();
      settle(now);
      time.count(now);
    }
  }

  /** Removes markers whose work has finished. */
  @GuardedBy("this")
  private void look() {
    long now = nanos.getAsLong();
    if (markers.removeFinished(now, lastFinished, pace)) {
      lastFinished = now;
    }
    settle(now);
    time.count(now);
  }

  /** Ends the pieces of work if nothing is left of them. */
  @GuardedBy("this")
  private void settle(long end) {
    if (markers.isEmpty() && !isOpen) {
      for (; pieces > 0; pieces--) {
        lease.end(end);
      }
    }
  }

  @GuardedBy("this")
  private void track() {
    if (!isTracked) {
      isTracked = true;
      Thread thread = new Thread(null, this::run, "graft-meter", 256 << 10);
      thread.setDaemon(true);
      thread.start();
    }
    notifyAll();
  }

  private void run() {
    Waiters.relaxCapture(device);
    try {
      for (SessionContext current; (current = await()) != null; ) {
        long since = nanos.getAsLong();
        while (isPending(current)) {
          if (lease.isHeld()) {
            LockSupport.parkNanos(lease.isBounded() ? SHORT_PAUSE : PAUSE);
            since = nanos.getAsLong();
          } else if (nanos.getAsLong() - since < DRAIN_POLL) {
            Thread.onSpinWait();
          } else {
            LockSupport.parkNanos(SHORT_PAUSE);
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for a marker, and enters its context, which the thread needs to query it. Returns the
   * context, or null if there was no marker for a while: then the thread ends.
   */
  private synchronized SessionContext await() throws InterruptedException {
    long began = nanos.getAsLong();
    while (markers.isEmpty()) {
      if (nanos.getAsLong() - began >= THREAD_NANOS) {
        isTracked = false;
        return null;
      }
      wait(1_000); // and looks again how late it is
    }
    SessionContext current = markers.oldest().context;
    current.enter(device); // not later, when the executor may have destroyed it
    return current;
  }

  /** Looks at the markers. Returns whether the first one is still of that context. */
  private synchronized boolean isPending(SessionContext current) {
    look();
    return !markers.isEmpty() && markers.oldest().context == current;
  }
}
