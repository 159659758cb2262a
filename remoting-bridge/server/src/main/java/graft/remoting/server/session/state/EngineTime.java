package graft.remoting.server.session.state;

import graft.remoting.server.exchange.GpuEngine;
import graft.remoting.server.exchange.GpuLease;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Has the lease count time for the engine that all unfinished work uses, as far as that is known.
 * What is queued before a marker counts together. Guarded by the meter.
 */
final class EngineTime {
  private final GpuLease lease;
  private final List<WorkMarker> markers;

  /** The engines of the work behind which there is no marker, by their bits. */
  private int unmarked;

  /** The engine for which the lease counts the time now. */
  private GpuEngine counted = GpuEngine.COMPUTE;

  EngineTime(GpuLease lease, List<WorkMarker> markers) {
    this.lease = lease;
    this.markers = markers;
  }

  /** Notes that the lease begins to count, which it does for {@link GpuEngine#COMPUTE} at first. */
  void restart() {
    counted = GpuEngine.COMPUTE;
  }

  /** Sets the engines of the work behind which there is no marker. */
  void setUnmarked(int engines) {
    unmarked = engines;
  }

  /** Has the lease count the time from then on for the engine of the work that goes on. */
  void count(long from) {
    GpuEngine now = current();
    if (now != counted) {
      counted = now;
      lease.count(now, from);
    }
  }

  /** As {@link #count(long)} from now on, with a look at the clock only if the engine changes. */
  void count(LongSupplier nanos) {
    if (current() != counted) {
      count(nanos.getAsLong());
    }
  }

  /** Returns the engine that the work counts for that goes on; the last one if there is none. */
  private GpuEngine current() {
    int all = unmarked;
    for (int i = 0; i < markers.size(); i++) { // no iterator, since polling would leave garbage
      all |= markers.get(i).engines;
    }
    return all == 0 ? counted : GpuEngine.of(all);
  }
}
