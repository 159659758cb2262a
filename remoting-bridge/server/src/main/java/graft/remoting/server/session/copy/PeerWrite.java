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
 * Copies data that comes from another server to the device, in the order of the legacy default
 * stream. The connections' threads receive into pinned buffers, and the link's thread queues the
 * buffers' copies.
 */
final class PeerWrite implements Destination {
  private static final long DEFAULT_STREAM = 0;

  private final CudaDevice device;
  private final SessionState state;
  private final SessionContext context;
  private final Staging staging;
  private final long target;
  private final ConcurrentLinkedQueue<Part> parts = new ConcurrentLinkedQueue<>();
  private final AtomicInteger result = new AtomicInteger(CudaResult.SUCCESS);

  /**
   * Creates a copy in the context that is current now.
   *
   * @param link the number of the link, which has buffers of its own
   */
  PeerWrite(CudaDevice device, SessionState state, int link, long target) {
    this.device = device;
    this.state = state;
    this.context = state.context();
    this.staging = context.link(link);
    this.target = target;
  }

  private record Part(Staging.Buffer buffer, long offset, long length) {}

  @Override
  public void receive(DataConnection connection, long offset, long length) throws IOException {
    for (long done = 0; done < length; ) {
      long part = Math.min(staging.bufferSize(), length - done);
      Staging.Buffer buffer;
      try {
        buffer = buffer();
      } catch (RefusedCallException e) {
        note(e.result());
        connection.drop(length - done);
        return;
      }
      Part its = new Part(buffer, offset + done, part);
      try {
        connection.receive(
            buffer.address(),
            part,
            () -> {
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

  private Staging.Buffer buffer() {
    Staging.Buffer buffer = staging.takeFree();
    if (buffer == null) {
      enter();
      buffer = staging.takeInTurn(true);
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
    for (Part part = parts.poll(); part != null; part = parts.poll()) {
      note(
          device.cuMemcpyHtoDAsync_v2(
              target + part.offset(), part.buffer().address(), part.length(), DEFAULT_STREAM));
      note(staging.copies(part.buffer(), DEFAULT_STREAM));
    }
    staging.recycle();
  }

  @Override
  public boolean isUnsettled() {
    return !parts.isEmpty();
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
    return result.get();
  }

  private void note(int answer) {
    if (answer != CudaResult.SUCCESS) {
      result.compareAndSet(CudaResult.SUCCESS, answer);
    }
  }
}
