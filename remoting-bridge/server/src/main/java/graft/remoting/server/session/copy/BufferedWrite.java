package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.DataConnection;
import graft.remoting.server.connection.Destination;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.state.SessionContext;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.session.state.Staging;
import java.io.IOException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Copies data that arrives on connections to the device. Each connection's thread receives into
 * pinned buffers, and one other thread alone queues their copies: the driver admits one thread at a
 * time, and when six threads queued copies they spent a quarter of their time waiting for it.
 */
abstract class BufferedWrite implements Destination {
  final CudaDevice device;
  final SessionState state;
  final SessionContext context;
  private final long target;
  private final long stream;
  private final ConcurrentLinkedQueue<Part> parts = new ConcurrentLinkedQueue<>();
  private final AtomicInteger result = new AtomicInteger(CudaResult.SUCCESS);

  /** Creates a write in the context that is current now. */
  BufferedWrite(CudaDevice device, SessionState state, long target, long stream) {
    this.device = device;
    this.state = state;
    this.context = state.context();
    this.target = target;
    this.stream = stream;
  }

  private record Part(Staging staging, Staging.Buffer buffer, long offset, long length) {}

  /** Returns the buffers that a connection's thread receives into. */
  abstract Staging staging(DataConnection connection);

  /** Returns a free buffer, for which a connection's thread may wait. */
  abstract Staging.Buffer buffer(DataConnection connection, Staging staging) throws IOException;

  /** Called on a connection's thread when a part of the data is in a buffer. */
  void received(long offset, long address, long length) {}

  @Override
  public final void receive(DataConnection connection, long offset, long length)
      throws IOException {
    Staging staging = staging(connection);
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
      try {
        connection.receive(
            buffer.address(),
            part,
            () -> {
              received(its.offset(), its.buffer().address(), its.length());
              parts.add(its);
              connection.arrived();
            });
      } catch (IOException e) {
        staging.give(buffer);
        throw e;
      }
      done += part;
    }
  }

  /** Queues the copies of what has arrived, in the context that is current. */
  final void queueCopies() {
    for (Part part = parts.poll(); part != null; part = parts.poll()) {
      note(
          device.cuMemcpyHtoDAsync_v2(
              target + part.offset(), part.buffer().address(), part.length(), stream));
      note(part.staging().copies(part.buffer(), stream));
    }
  }

  @Override
  public final boolean isUnsettled() {
    return !parts.isEmpty();
  }

  /** Returns the first error so far. */
  final int result() {
    return result.get();
  }

  final void note(int answer) {
    if (answer != CudaResult.SUCCESS) {
      result.compareAndSet(CudaResult.SUCCESS, answer);
    }
  }
}
