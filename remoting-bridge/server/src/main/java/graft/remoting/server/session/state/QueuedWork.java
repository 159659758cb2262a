package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.session.call.UsedStreams;
import graft.remoting.server.session.memory.DeviceState;

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
    boolean over = !streams.mayHaveMoreAnywhere() && isOver(0);
    for (int i = 0; over && i < streams.size(); i++) {
      over = isOver(streams.get(i));
    }
    return over;
  }

  private boolean isOver(long stream) {
    return !DeviceState.mayCapture(device, stream)
        && device.cuStreamQuery(stream) == CudaResult.SUCCESS;
  }
}
