package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.memory.DeviceState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** The markers of a session that have not been reached yet, oldest first. Guarded by the meter. */
final class WorkMarkers {
  /** The number of markers from which on a stream's marker is moved instead of added to. */
  private static final int MOST = 64;

  private final CudaDevice device;
  private final LongSupplier nanos;
  private final List<WorkMarker> list = new ArrayList<>();

  WorkMarkers(CudaDevice device, LongSupplier nanos) {
    this.device = device;
    this.nanos = nanos;
  }

  /** Returns the markers, as they are at any time. */
  List<WorkMarker> list() {
    return list;
  }

  boolean isEmpty() {
    return list.isEmpty();
  }

  int count() {
    return list.size();
  }

  /** Returns the oldest marker; there must be one. */
  WorkMarker oldest() {
    return list.get(0);
  }

  /**
   * Records a marker behind the work of a stream, or moves the stream's marker there.
   *
   * @param engines the engines of that work, by their bits
   * @param moves whether a marker behind work of the same engines may be moved
   */
  void record(SessionContext context, long stream, int engines, boolean moves) {
    if (DeviceState.mayCapture(device, stream)) {
      return;
    }
    boolean isFull = list.size() >= MOST;
    for (WorkMarker marker : list) {
      boolean may = isFull || (moves && marker.engines == engines);
      if (may && marker.stream == stream && marker.context == context) {
        marker.engines |= engines;
        device.cuEventRecord(marker.event, stream);
        return;
      }
    }
    try {
      long event = context.events().record(stream);
      list.add(new WorkMarker(context, stream, engines, event, nanos.getAsLong()));
    } catch (RefusedCallException e) {
      // The context has failed, so that nothing runs, or the stream is of another context.
      device.cuStreamSynchronize(stream);
    }
  }

  /**
   * Removes the markers whose work has finished.
   *
   * @param now the time
   * @param last when work finished last
   * @param pace learns how long the work before each took
   * @return whether any has finished
   */
  boolean removeFinished(long now, long last, WorkPace pace) {
    long began = last;
    int finished = 0;
    for (int i = 0; i < list.size(); ) { // no iterator, since polling would leave much garbage
      WorkMarker marker = list.get(i);
      if (device.cuEventQuery(marker.event) == CudaResult.NOT_READY) {
        i++;
      } else {
        list.remove(i);
        marker.context.events().give(marker.event);
        began = finished++ == 0 ? Math.max(marker.began, last) : began;
      }
    }
    if (finished > 0) {
      pace.adapt((now - began) / finished);
    }
    return finished > 0;
  }

  /** Forgets the markers of a context, with which its work ends. */
  void forget(SessionContext gone) {
    list.removeIf(marker -> marker.context == gone);
  }

  /** Forgets a stream that was destroyed, whose work may go on. */
  void forget(long stream) {
    for (WorkMarker marker : list) {
      if (marker.stream == stream) {
        marker.stream = -1;
      }
    }
  }
}
