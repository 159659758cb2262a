package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.DataConnections;
import graft.remoting.server.connection.Sender;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.system.CpuContention;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the parts of a session share. Only the executor uses the current context; any thread may use
 * the rest.
 */
public final class SessionState {
  private static final Logger LOG = LoggerFactory.getLogger(SessionState.class);

  /**
   * How many times longer the device is polled than the channel. A wait on another thread costs
   * tens of microseconds, and the driver itself polls until the work has finished.
   */
  private static final int DEVICE_SPINS = 100;

  /** For how long the device is polled without a pause if other threads want the CPU. */
  private static final long DEVICE_MOMENT_NANOS = 50_000;

  private static final long POLL_BUSILY_NANOS = 5_000_000;
  private static final long POLL_NANOS = 1_000_000_000;
  private static final long POLL_PAUSE_NANOS = 20_000;

  /** The pause while another guest has the device, and many sessions may wait for their turns. */
  private static final long POLL_PAUSE_OUT_OF_TURN = 200_000;

  private final CudaDevice device;
  private final Channel channel;
  private final long spinNanos;
  private final HostMemory memory;
  private final Waiters waiters;
  private final AsyncReads reads;
  private final Replies replies;
  private final HostFunctions hostFunctions;
  private final GpuMeter meter;
  private final CpuContention contention = CpuContention.shared();

  /** Only the executor changes this map. */
  private final Map<Long, SessionContext> contexts = new ConcurrentHashMap<>();

  private SessionContext context;

  public SessionState(
      CudaDevice device, HostMemory memory, Channel channel, int spinMicros, GpuLease lease) {
    this.meter = new GpuMeter(device, lease);
    this.device = device;
    this.channel = channel;
    this.spinNanos = TimeUnit.MICROSECONDS.toNanos((long) spinMicros * DEVICE_SPINS);
    this.memory = memory;
    this.waiters = new Waiters(device, memory, this::awaitEvent);
    this.reads = new AsyncReads(device, channel, waiters, this::awaitEvent);
    this.replies = new Replies(channel, reads);
    this.hostFunctions = new HostFunctions(device, channel, reads);
    this.context = new SessionContext(device, memory, 0);
  }

  public GpuMeter meter() {
    return meter;
  }

  public Waiters waiters() {
    return waiters;
  }

  public AsyncReads reads() {
    return reads;
  }

  public Replies replies() {
    return replies;
  }

  public HostFunctions hostFunctions() {
    return hostFunctions;
  }

  /** Returns the context that is current to the executor. */
  public SessionContext context() {
    return context;
  }

  /** Waits for the work in all contexts, on a thread that is not the executor. */
  public void finishWork() {
    for (SessionContext its : contexts.values()) {
      if (its.enter(device) == CudaResult.SUCCESS) {
        Waiters.drain(device);
      }
    }
  }

  /** Makes a context current to the executor. */
  public int enter(long handle) {
    if (handle == context.handle()) {
      return CudaResult.SUCCESS;
    }
    meter.mark();
    int result = device.cuCtxSetCurrent(handle);
    if (result == CudaResult.SUCCESS) {
      context = contexts.computeIfAbsent(handle, key -> new SessionContext(device, memory, key));
    }
    return result;
  }

  /** Frees what is kept for a context that is about to be destroyed, and leaves the context. */
  public void forget(long handle) {
    SessionContext gone = contexts.get(handle);
    if (gone != null && enter(handle) == CudaResult.SUCCESS) {
      gone.close();
      meter.forget(gone);
    }
    contexts.remove(handle);
    leave(handle);
  }

  /** Makes no context current to the executor if the given one is. */
  public void leave(long handle) {
    if (handle == context.handle()) {
      meter.mark();
      device.cuCtxSetCurrent(0);
      context = new SessionContext(device, memory, 0);
    }
  }

  /**
   * Repeats a query until its result is not NOT_READY, for a moment and as long as no other record
   * has arrived; with pauses if other threads want the CPU.
   *
   * @return the last result
   */
  public int spinUntil(IntSupplier question) {
    int result = question.getAsInt();
    if (result != CudaResult.NOT_READY || spinNanos == 0) {
      return result;
    }
    long start = System.nanoTime();
    long now = start;
    boolean busily = true;
    try {
      while (result == CudaResult.NOT_READY && now - start < spinNanos && !channel.hasRecord()) {
        if (busily) {
          Thread.onSpinWait();
        } else {
          LockSupport.parkNanos(POLL_PAUSE_NANOS);
          now = System.nanoTime(); // a late end of the pause is no sign of contention
        }
        long last = now;
        result = question.getAsInt();
        now = System.nanoTime();
        busily = !contention.polled(last, now) || now - start < DEVICE_MOMENT_NANOS;
      }
    } catch (IOException e) {
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
    return result;
  }

  /**
   * Waits for an event on a thread that has nothing else to do. The thread polls, as the driver
   * does by default, after a while or if other threads want the CPU with pauses: the driver's own
   * blocking wait takes hundreds of microseconds to wake up.
   */
  public int awaitEvent(long event) {
    long start = System.nanoTime();
    long now = start;
    boolean busily = true;
    int result = CudaResult.NOT_READY;
    while (spinNanos > 0 && result == CudaResult.NOT_READY && now - start < POLL_NANOS) {
      result = device.cuEventQuery(event);
      long last = now;
      now = System.nanoTime();
      boolean outOfTurn = meter.isOutOfTurn();
      busily = busily && !contention.polled(last, now);
      busily &= now - start < POLL_BUSILY_NANOS;
      if (busily && !outOfTurn) {
        Thread.onSpinWait();
      } else if (result == CudaResult.NOT_READY) {
        LockSupport.parkNanos(outOfTurn ? POLL_PAUSE_OUT_OF_TURN : POLL_PAUSE_NANOS);
        now = System.nanoTime();
      }
    }
    return result == CudaResult.NOT_READY || result == CudaResult.SUCCESS
        ? device.cuEventSynchronize(event)
        : result;
  }

  /** Returns whether data of that size is sent to the client on data connections. */
  public boolean usesDataConnections(long bytes) {
    return bytes >= DataConnections.LEAST && channel.dataConnections().areOpen();
  }

  /**
   * Sends data of a read that the client waits for in {@code slot} on the data connections.
   *
   * @param whole the bytes of the whole read
   * @param sent called when the memory may be reused
   */
  public void sendOnDataConnections(
      int slot, long offset, long address, long bytes, long whole, Runnable sent) {
    channel
        .dataConnections()
        .send(Integer.toUnsignedLong(slot), offset, address, bytes, whole, sent);
    announce(slot, offset, bytes);
  }

  private void announce(int slot, long offset, long bytes) {
    long read = Integer.toUnsignedLong(slot);
    try {
      Replies.announce(channel, read, offset, bytes);
    } catch (IOException e) {
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
  }

  /**
   * Sends all data of a read by means of {@code sender}, and returns when the memory may be reused.
   */
  public void sendOnDataConnections(int slot, long address, long bytes, Sender sender) {
    CountDownLatch sent = new CountDownLatch(1);
    channel
        .dataConnections()
        .send(Integer.toUnsignedLong(slot), 0, address, bytes, bytes, sender, sent::countDown);
    announce(slot, 0, bytes);
    try {
      sent.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("nothing interrupts the threads of a session", e);
    }
  }

  /** Sends all data of a read that the client does not wait for. */
  public void sendRead(long read, long address, long bytes) {
    try {
      Replies.sendData(channel, 0, read, 0, address, bytes);
    } catch (IOException e) {
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
  }

  /**
   * Sends data of a read that the client waits for in {@code slot}, starting at {@code offset} of
   * the read.
   */
  public void sendData(int slot, long offset, long address, long bytes) {
    try {
      Replies.sendData(channel, slot, Integer.toUnsignedLong(slot), offset, address, bytes);
    } catch (IOException e) {
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
  }
}
