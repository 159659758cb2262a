package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.server.connection.DataConnection;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.session.state.Staging;
import graft.remoting.server.session.state.Waiters;
import java.io.IOException;

/** Copies bulk data from the data connections to the device. The executor queues the copies. */
final class StagedWrite extends BufferedWrite {
  private final boolean mayWait;
  private final KeptData.Copy copy;

  /**
   * Creates a write in the context that is current now.
   *
   * @param copy takes a copy of the data; null for none
   */
  StagedWrite(CudaDevice device, SessionState state, long target, long stream, KeptData.Copy copy) {
    super(device, state, target, stream);
    this.copy = copy;
    this.mayWait = !state.hostFunctions().arePending();
  }

  @Override
  Staging staging(DataConnection connection) {
    return context.chunks(connection);
  }

  @Override
  Staging.Buffer buffer(DataConnection connection, Staging staging) throws IOException {
    Staging.Buffer buffer = staging.takeFree();
    // Buffers that this connection is still receiving into become free once they are full.
    while (buffer == null && staging.isFull() && connection.isReceiving()) {
      connection.work();
      buffer = staging.takeFree();
    }
    if (buffer == null && staging.isFull()) {
      connection.poll(staging::hasFree);
      buffer = staging.takeFree();
    }
    if (buffer == null) {
      context.enter(device);
      Waiters.relaxCapture(device);
      buffer = staging.takeInTurn(mayWait);
    }
    return buffer;
  }

  @Override
  void received(long offset, long address, long length) {
    if (copy != null) {
      copy.add(offset, address, length);
    }
  }

  @Override
  public void settle() {
    if (!isUnsettled() && !context.isCopyingChunks()) {
      return;
    }
    long current = state.context().handle();
    state.enter(context.handle());
    queueCopies();
    context.recycleChunks();
    state.enter(current);
  }

  @Override
  public void end() {
    if (copy != null) {
      copy.end();
    }
    state.replies().asyncError(result());
  }
}
