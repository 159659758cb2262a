package graft.remoting.server.session;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.call.UsedStreams;
import graft.remoting.server.session.code.PrintingCode;
import graft.remoting.server.session.memory.DeviceState;
import graft.remoting.server.session.state.SessionContext;
import graft.remoting.server.session.state.SessionState;
import java.util.function.IntConsumer;

/**
 * The calls that wait for the device. The executor asks whether the work has finished, and polls
 * for a moment while no other record has arrived. Then it hands the wait to another thread, because
 * one waiting thread of the client must not delay the others.
 */
final class WaitCalls implements SessionCalls.Wait {
  private static final long LEGACY = 0;

  private final CudaDevice device;
  private final SessionState state;
  private final UsedStreams streams;
  private final PrintingCode printing;

  WaitCalls(CudaDevice device, SessionState state, UsedStreams streams, PrintingCode printing) {
    this.device = device;
    this.state = state;
    this.streams = streams;
    this.printing = printing;
  }

  @Override
  public int cuStreamSynchronize(Call call, long stream) {
    int ready = state.spinUntil(() -> device.cuStreamQuery(stream));
    if (ready == CudaResult.SUCCESS) {
      state.meter().finished(state.context(), stream);
      // The work has finished, but only a synchronization makes the driver print the output of a
      // kernel's printf.
      return printing.mayPrint() ? device.cuStreamSynchronize(stream) : ready;
    }
    if (ready != CudaResult.NOT_READY) {
      return ready;
    }
    return await(call, stream);
  }

  /**
   * Waits for the work that is queued in a stream now. The wait is on an event, so that it does not
   * include work that other threads of the client queue in the meantime.
   */
  private int await(Call call, long stream) {
    int slot = call.slot();
    state
        .waiters()
        .awaitWork(state.context(), stream, result -> state.replies().send(slot, result));
    return Call.DEFERRED;
  }

  /**
   * Waits on the executor's thread, so that later records are carried out behind the stream's work.
   * Clients ask for it when the stream has only copies of theirs to carry out. A client that asks
   * when a stream waits for something else holds up its own session alone.
   */
  @Override
  public int graftStreamSettle(Call call, long stream) {
    int result = state.spinUntil(() -> device.cuStreamQuery(stream));
    if (result == CudaResult.NOT_READY) {
      result = device.cuStreamSynchronize(stream);
    }
    if (result == CudaResult.SUCCESS) {
      state.meter().finished(state.context(), stream);
    }
    return result;
  }

  @Override
  public int cuEventSynchronize(Call call, long event) {
    int ready = state.spinUntil(() -> device.cuEventQuery(event));
    if (ready != CudaResult.NOT_READY) {
      boolean print = ready == CudaResult.SUCCESS && printing.mayPrint();
      return print ? device.cuEventSynchronize(event) : ready;
    }
    int slot = call.slot();
    state.waiters().await(state.context(), event, result -> state.replies().send(slot, result));
    return Call.DEFERRED;
  }

  @Override
  public int graftContextSynchronize(Call call) {
    int ready = streams.tooMany() ? CudaResult.NOT_READY : state.spinUntil(this::streamsReady);
    if (ready != CudaResult.NOT_READY) {
      boolean isAll = !streams.mayHaveMore();
      if (isAll) {
        state.meter().finishedAll(state.context());
      }
      streams.clear();
      // The driver's wait would find nothing to wait for, and costs as much as a query or two.
      boolean isOver = isAll && ready == CudaResult.SUCCESS && !printing.mayPrint();
      return isOver ? ready : device.cuCtxSynchronize();
    }
    int slot = call.slot();
    IntConsumer reply = result -> state.replies().send(slot, result);
    SessionContext context = state.context();
    // The driver's wait would keep a CPU busy until it is over, whoever else wants it.
    boolean isDrivers = streams.mayHaveMore() || mayCapture();
    long[] events = isDrivers ? new long[0] : context.events().recordAll(streams.all());
    if (events.length > 0) {
      state.waiters().awaitRecorded(context, events, reply);
    } else {
      state.waiters().awaitContext(context, reply);
    }
    return Call.DEFERRED;
  }

  @Override
  public int graftContextDrain(Call call) {
    if (!mayCapture() && state.spinUntil(this::streamsReady) == CudaResult.SUCCESS) {
      return graftContextSynchronize(call);
    }
    int slot = call.slot();
    state.waiters().awaitDrained(state.context(), result -> state.replies().send(slot, result));
    return Call.DEFERRED;
  }

  /** Returns whether a stream is captured, which a question about its work would end. */
  private boolean mayCapture() {
    boolean may = streams.tooMany();
    for (int i = 0; i < streams.size() && !may; i++) {
      may = streams.isOfCurrent(i) && DeviceState.mayCapture(device, streams.get(i));
    }
    return may;
  }

  /**
   * Returns NOT_READY while a stream that was used still has work. An error ends the queries; the
   * wait for the context reports it.
   */
  private int streamsReady() {
    int asked = 0;
    for (int i = 0; i < streams.size(); i++) {
      if (!streams.isOfCurrent(i)) {
        continue;
      }
      long stream = streams.get(i);
      asked++;
      int result = stream == LEGACY ? CudaResult.SUCCESS : device.cuStreamQuery(stream);
      if (result != CudaResult.SUCCESS) {
        return result;
      }
    }
    // If no stream is asked the legacy one is, so that an error of the context is seen.
    boolean asksLegacy = asked == 0 || streams.mayUseLegacy();
    return asksLegacy ? device.cuStreamQuery(LEGACY) : CudaResult.SUCCESS;
  }
}
