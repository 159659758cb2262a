package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Bulk data on its way from the lanes to the device: each lane's thread receives into pinned
 * buffers, and the executor queues their copies. It alone talks to the driver, which lets one
 * thread in at a time: with six of them a quarter of their time went there.
 */
final class LaneWrite implements Lanes.Destination {
  private final CudaDevice device;
  private final SessionState state;
  private final SessionContext context;
  private final long target;
  private final long stream;
  private final boolean mayWait;
  private final ConcurrentLinkedQueue<Part> parts = new ConcurrentLinkedQueue<>();
  private final Set<Staging> used = new HashSet<>(); // the executor's
  private final AtomicInteger result = new AtomicInteger(CudaResult.SUCCESS);

  /** A write in the context that is current now. */
  LaneWrite(CudaDevice device, SessionState state, long target, long stream) {
    this.device = device;
    this.state = state;
    this.context = state.context();
    this.target = target;
    this.stream = stream;
    this.mayWait = !state.hostFunctions().arePending();
  }

  private record Part(Staging staging, Staging.Buffer buffer, long offset, long length) {}

  @Override
  public void take(Lane lane, long offset, long length) throws IOException {
    Staging staging = context.pieces(lane);
    for (long done = 0; done < length; ) {
      long part = Math.min(staging.bufferSize(), length - done);
      Staging.Buffer buffer;
      try {
        buffer = buffer(staging);
      } catch (RefusedCallException e) {
        note(e.result());
        lane.drop(length - done);
        return;
      }
      lane.take(buffer.address(), part);
      parts.add(new Part(staging, buffer, offset + done, part));
      lane.arrived();
      done += part;
    }
  }

  private Staging.Buffer buffer(Staging staging) {
    Staging.Buffer buffer = staging.takeFree();
    if (buffer == null) {
      context.enter(device);
      Waiters.relaxCapture(device);
      buffer = staging.takeInTurn(mayWait);
    }
    return buffer;
  }

  @Override
  public void settle() {
    if (parts.isEmpty() && used.isEmpty()) {
      return;
    }
    long current = state.context().handle();
    state.enter(context.handle());
    Part part;
    while ((part = parts.poll()) != null) {
      note(
          device.cuMemcpyHtoDAsync_v2(
              target + part.offset(), part.buffer().address(), part.length(), stream));
      note(part.staging().copies(part.buffer(), stream));
      used.add(part.staging());
    }
    used.forEach(Staging::recycle);
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
