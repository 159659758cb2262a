package graft.remoting.server.session;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.call.UsedStreams;
import graft.remoting.server.session.code.PrintingCode;
import graft.remoting.server.session.state.SessionContext;
import graft.remoting.server.session.state.SessionState;

/**
 * Waiting. The executor asks whether it is over, polls for a moment while no other record is there,
 * and then leaves the wait to another thread: a thread of the client that waits must not hold up
 * the others.
 */
final class WaitCalls implements SessionCalls.Wait {
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

  /** cuStreamSynchronize. */
  @Override
  public int cuStreamSynchronize(Call call, long stream) {
    int ready = state.spinUntil(() -> device.cuStreamQuery(stream));
    if (ready == CudaResult.SUCCESS) {
      // Does not wait any more, but it is what makes the driver print a kernel's printf.
      return printing.mayPrint() ? device.cuStreamSynchronize(stream) : ready;
    }
    if (ready != CudaResult.NOT_READY) {
      return ready;
    }
    // An event, so that work that other threads queue meanwhile is not waited for.
    SessionContext context = state.context();
    long event = context.events().record(stream);
    int slot = call.slot();
    state
        .waiters()
        .submit(
            context,
            () -> {
              int result = state.awaitEvent(event);
              context.events().give(event);
              state.replies().send(slot, result);
            });
    return Call.DEFERRED;
  }

  /** cuEventSynchronize. */
  @Override
  public int cuEventSynchronize(Call call, long event) {
    int ready = state.spinUntil(() -> device.cuEventQuery(event));
    if (ready != CudaResult.NOT_READY) {
      boolean print = ready == CudaResult.SUCCESS && printing.mayPrint();
      return print ? device.cuEventSynchronize(event) : ready;
    }
    int slot = call.slot();
    state
        .waiters()
        .submit(state.context(), () -> state.replies().send(slot, state.awaitEvent(event)));
    return Call.DEFERRED;
  }

  /** cuCtxSynchronize. */
  @Override
  public int graftContextSynchronize(Call call) {
    if (!streams.tooMany() && state.spinUntil(this::streamsReady) == CudaResult.SUCCESS) {
      streams.clear();
      return device.cuCtxSynchronize();
    }
    int slot = call.slot();
    state
        .waiters()
        .submit(state.context(), () -> state.replies().send(slot, device.cuCtxSynchronize()));
    return Call.DEFERRED;
  }

  /**
   * NOT_READY while a stream that was used has work; an error ends the asking, since the context's
   * wait reports it.
   */
  private int streamsReady() {
    for (int i = 0; i < streams.size(); i++) {
      int result = device.cuStreamQuery(streams.get(i));
      if (result != CudaResult.SUCCESS) {
        return result == CudaResult.NOT_READY ? result : CudaResult.SUCCESS;
      }
    }
    return device.cuStreamQuery(0) == CudaResult.NOT_READY
        ? CudaResult.NOT_READY
        : CudaResult.SUCCESS;
  }
}
