package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.DataConnection;
import graft.remoting.server.connection.Destination;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.state.SessionContext;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.session.state.Staging;
import graft.remoting.server.session.state.Waiters;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Copies bulk data from the data connections to the device. Each connection's thread receives into
 * pinned buffers, and the executor alone queues their copies: the driver admits one thread at a
 * time, and when six threads queued copies they spent a quarter of their time waiting for it.
 */
final class StagedWrite implements Destination {
  private final CudaDevice device;
  private final SessionState state;
  private final SessionContext context;
  private final long target;
  private final long stream;
  private final boolean mayWait;
  private final ConcurrentLinkedQueue<Part> parts = new ConcurrentLinkedQueue<>();
  private final AtomicInteger result = new AtomicInteger(CudaResult.SUCCESS);

  /** Creates a write in the context that is current now. */
  StagedWrite(CudaDevice device, SessionState state, long target, long stream) {
    this.device = device;
    this.state = state;
    this.context = state.context();
    this.target = target;
    this.stream = stream;
    this.mayWait = !state.hostFunctions().arePending();
  }

  private record Part(Staging staging, Staging.Buffer buffer, long offset, long length) {}

  @Override
  public void receive(DataConnection connection, long offset, long length) throws IOException {
    Staging staging = context.chunks(connection);
    for (long done = 0; done < length; ) {
      long part = Math.min(staging.bufferSize(), length - done);
      Staging.Buffer buffer;
      try {
        buffer = buffer(connection, staging);
      } catch (RefusedCallException e) {
        note(e.result());
        connection.drop(length - done);
        return;
      }
      Part its = new Part(staging, buffer, offset + done, part);
      connection.receive(
          buffer.address(),
          part,
          () -> {
            parts.add(its);
            connection.arrived();
          });
      done += part;
    }
  }

  private Staging.Buffer buffer(DataConnection connection, Staging staging) throws IOException {
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
  public void settle() {
    Part part = parts.poll();
    if (part == null && !context.isCopyingChunks()) {
      return;
    }
    long current = state.context().handle();
    state.enter(context.handle());
    for (; part != null; part = parts.poll()) {
      note(
          device.cuMemcpyHtoDAsync_v2(
              target + part.offset(), part.buffer().address(), part.length(), stream));
      note(part.staging().copies(part.buffer(), stream));
    }
    context.recycleChunks();
    state.enter(current);
  }

  @Override
  public boolean isUnsettled() {
    return !parts.isEmpty();
  }

  @Override
  public void end() {
    state.replies().asyncError(result.get());
  }

  private void note(int answer) {
    if (answer != CudaResult.SUCCESS) {
      result.compareAndSet(CudaResult.SUCCESS, answer);
    }
  }
}
