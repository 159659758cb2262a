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
 * Host functions of the client that are queued in a stream. The driver calls this process on a
 * thread of its own; this class tells the client to run the function, and blocks the stream until
 * the client reports that it has run.
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

  // Held here because the driver keeps only its address.
  private HostFunction function;

  /**
   * A host function that the client is running. The count exceeds one if graphs run it several
   * times at once.
   */
  private static final class Running {
    private final Semaphore done = new Semaphore(0);
    private int count;
  }

  /**
   * Creates the host functions of the client on {@code channel}.
   *
   * @param reads the reads whose data is sent ahead of a function that follows them in a stream
   */
  HostFunctions(CudaDevice device, Channel channel, AsyncReads reads) {
    this.device = device;
    this.channel = channel;
    this.reads = reads;
  }

  /**
   * Returns whether a host function may be blocking a stream, in which case the executor must not
   * wait for the device.
   */
  public boolean arePending() {
    return pending.get() != 0;
  }

  /**
   * Returns the address of the CUhostFn that runs the client's function. The function's identity is
   * the argument.
   */
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

  /** Runs on the driver's thread. A function in a graph runs once for each launch of the graph. */
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
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
  }

  /** Handles the client's report that its function has run. */
  @Override
  public int graftHostFunctionDone(Call call, long identity) {
    return done(identity);
  }

  /** Handles the same report on either the connection for callbacks or the session's stream. */
  int done(long identity) {
    Running waiting = running.get(identity);
    if (waiting == null) {
      return CudaResult.INVALID_VALUE;
    }
    waiting.done.release();
    return CudaResult.SUCCESS;
  }
}
