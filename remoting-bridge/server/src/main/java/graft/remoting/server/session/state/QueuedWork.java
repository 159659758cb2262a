package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.UsedStreams;
import graft.remoting.server.system.Scratch;

/** The work that a session has queued. Only the executor uses this class. */
public final class QueuedWork {
  private final CudaDevice device;
  private final UsedStreams streams;

  public QueuedWork(CudaDevice device, UsedStreams streams) {
    this.device = device;
    this.streams = streams;
  }

  /**
   * Returns whether all of it has finished without an error, and no stream is captured. All streams
   * are queried, because a stream may have to wait for the legacy default stream.
   */
  public boolean isOver() {
    boolean over = !streams.mayHaveMore() && isOver(0);
    for (int i = 0; over && i < streams.size(); i++) {
      over = isOver(streams.get(i));
    }
    return over;
  }

  private boolean isOver(long stream) {
    try (Scratch status = new Scratch(4)) {
      // A capturing stream must be detected first: querying it would invalidate the capture.
      return device.cuStreamIsCapturing(stream, status.address()) == CudaResult.SUCCESS
          && Memory.getInt(status.address()) == 0
          && device.cuStreamQuery(stream) == CudaResult.SUCCESS;
    }
  }
}
