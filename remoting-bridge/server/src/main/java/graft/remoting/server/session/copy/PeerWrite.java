package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.server.connection.DataConnection;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.session.state.Staging;
import graft.remoting.server.session.state.Waiters;

/**
 * Copies data that comes from another server to the device, in the order of the legacy default
 * stream. The link's thread queues the copies.
 */
final class PeerWrite extends BufferedWrite {
  private static final long DEFAULT_STREAM = 0;

  private final Staging staging;

  /**
   * Creates a copy in the context that is current now.
   *
   * @param link the number of the link, which has buffers of its own
   */
  PeerWrite(CudaDevice device, SessionState state, int link, long target) {
    super(device, state, target, DEFAULT_STREAM);
    this.staging = context.link(link);
  }

  @Override
  Staging staging(DataConnection connection) {
    return staging;
  }

  @Override
  Staging.Buffer buffer(DataConnection connection, Staging its) {
    Staging.Buffer buffer = its.takeFree();
    if (buffer == null) {
      enter();
      buffer = its.takeInTurn(true);
    }
    return buffer;
  }

  /** Makes the context current to the calling thread, which is one of a connection or the link. */
  void enter() {
    context.enter(device);
    Waiters.relaxCapture(device);
  }

  @Override
  public void settle() {
    queueCopies();
    staging.recycle();
  }

  /** Waits until all that has arrived is copied. Returns the first error. */
  int finish() {
    settle();
    try {
      long event = context.events().record(DEFAULT_STREAM);
      note(state.awaitEvent(event));
      context.events().give(event);
    } catch (RefusedCallException e) {
      note(e.result());
    }
    return result();
  }
}
