package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Bulk data on its way from the lanes to the device: each lane's thread receives a piece into a
 * pinned buffer and queues its copy, while others receive theirs.
 */
final class LaneWrite implements Lanes.Destination {
  private final CudaDevice device;
  private final SessionContext context;
  private final long target;
  private final long stream;
  private final boolean mayWait;
  private final AtomicInteger result = new AtomicInteger(CudaResult.SUCCESS);

  /**
   * A write.
   *
   * @param mayWait whether the device may be waited for, see {@link Staging#take}
   */
  LaneWrite(CudaDevice device, SessionContext context, long target, long stream, boolean mayWait) {
    this.device = device;
    this.context = context;
    this.target = target;
    this.stream = stream;
    this.mayWait = mayWait;
  }

  @Override
  public void take(Lane lane, long offset, long length) throws IOException {
    context.enter(device);
    Waiters.relaxCapture(device);
    for (long done = 0; done < length; done += Lanes.PIECE) {
      takePart(lane, offset + done, Math.min(Lanes.PIECE, length - done));
    }
  }

  private void takePart(Lane lane, long offset, long length) throws IOException {
    Staging.Buffer buffer;
    try {
      buffer = context.pieces().take(mayWait);
    } catch (RefusedCallException e) {
      note(e.result());
      lane.drop(length);
      return;
    }
    lane.take(buffer.address(), length);
    note(device.cuMemcpyHtoDAsync_v2(target + offset, buffer.address(), length, stream));
    note(context.pieces().copies(buffer, stream));
  }

  private void note(int answer) {
    if (answer != CudaResult.SUCCESS) {
      result.compareAndSet(CudaResult.SUCCESS, answer);
    }
  }

  /** The first error of a copy, once all has come. */
  int result() {
    return result.get();
  }
}
