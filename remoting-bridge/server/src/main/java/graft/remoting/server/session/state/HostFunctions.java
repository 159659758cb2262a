package graft.remoting.server.session.state;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.CallbackThreadInitializer;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Functions of the client that run in the order of a stream. The driver calls us on a thread of its
 * own; we tell the client and hold the stream until it answers that the function has run.
 */
public final class HostFunctions implements SessionCalls.HostFunction {
  private static final Logger LOG = LoggerFactory.getLogger(HostFunctions.class);
  private static final int MESSAGE = Channel.ANSWER_HEADER + 8;

  /** CUhostFn. */
  interface HostFunction extends Callback {
    void invoke(Pointer userData);
  }

  private final CudaDevice device;
  private final Channel channel;
  private final AsyncReads reads;
  private final AtomicInteger pending = new AtomicInteger();
  private final Map<Long, Running> running = new ConcurrentHashMap<>();

  // Kept here: the driver holds only its address.
  private HostFunction function;

  /** A function that the client runs now; more than once where graphs run it at the same time. */
  private static final class Running {
    private final Semaphore done = new Semaphore(0);
    private int count;
  }

  /**
   * Functions of the client on {@code channel}.
   *
   * @param reads whose data goes ahead of a function behind them in a stream
   */
  HostFunctions(CudaDevice device, Channel channel, AsyncReads reads) {
    this.device = device;
    this.channel = channel;
    this.reads = reads;
  }

  /**
   * Whether a stream may be held until the client answers, so that the executor must not wait for
   * the device.
   */
  public boolean arePending() {
    return pending.get() != 0;
  }

  /** The CUhostFn that runs the client's function whose identity is its argument. */
  public long address() {
    if (function == null) {
      function = userData -> run(Pointer.nativeValue(userData));
      Native.setCallbackThreadInitializer(
          function, new CallbackThreadInitializer(true, false, "graft-host-function"));
    }
    return Pointer.nativeValue(CallbackReference.getFunctionPointer(function));
  }

  /** Queues the client's function of that identity. */
  @Override
  public int graftHostFunction(Call call, long stream, long identity) {
    pending.incrementAndGet();
    int result = device.cuLaunchHostFunc(stream, address(), identity);
    if (result != CudaResult.SUCCESS) {
      pending.decrementAndGet();
    }
    return result;
  }

  /** Runs on the driver's thread; with a graph, once for each of its launches. */
  private void run(long identity) {
    Running mine =
        running.compute(
            identity,
            (key, before) -> {
              Running now = before == null ? new Running() : before;
              now.count++;
              return now;
            });
    try {
      reads.whenCompletedAreSent(() -> tell(identity));
      mine.done.acquireUninterruptibly();
    } finally {
      running.compute(identity, (key, now) -> --mine.count == 0 ? null : now);
      pending.updateAndGet(count -> Math.max(0, count - 1));
    }
  }

  private void tell(long identity) {
    try (Scratch message = new Scratch(MESSAGE)) {
      Call.header(message.address(), MESSAGE, 2, 0, CudaResult.SUCCESS);
      Memory.putLong(message.address() + Channel.ANSWER_HEADER, identity);
      channel.send(message.address(), MESSAGE);
    } catch (IOException e) {
      LOG.debug("the client has gone: {}", e.getMessage());
    }
  }

  /** The client's function has run. */
  @Override
  public int graftHostFunctionDone(Call call, long identity) {
    return done(identity);
  }

  /** The client says so on the connection for callbacks, or by a call. */
  int done(long identity) {
    Running waiting = running.get(identity);
    if (waiting == null) {
      return CudaResult.INVALID_VALUE;
    }
    waiting.done.release();
    return CudaResult.SUCCESS;
  }
}
