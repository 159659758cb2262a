package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Streams in which work stays until it is finished, and events behind it. */
final class QueueingDevice implements CudaDevice {
  private final Map<Long, Integer> queued = new HashMap<>();
  private final Map<Long, Integer> finished = new HashMap<>();
  private final Map<Long, long[]> events = new HashMap<>();
  private long handles = 0x100;
  long captured = -1;

  /** The streams that must not be named any more. */
  final Set<Long> gone = new HashSet<>();

  private int records;
  boolean isInstant;

  synchronized void queue(long stream) {
    queued.merge(stream, 1, Integer::sum);
    if (isInstant) {
      finish(stream);
    }
  }

  synchronized void finish(long stream) {
    finish(stream, queued.getOrDefault(stream, 0));
  }

  synchronized void finish(long stream, int works) {
    finished.put(stream, works);
  }

  synchronized int launches() {
    return queued.values().stream().mapToInt(Integer::intValue).sum();
  }

  synchronized int records() {
    return records;
  }

  @Override
  public synchronized int cuEventCreate(long event, int flags) {
    Memory.putLong(event, ++handles);
    return CudaResult.SUCCESS;
  }

  @Override
  public synchronized int cuEventRecord(long event, long stream) {
    checkThere(stream);
    records++;
    events.put(event, new long[] {stream, queued.getOrDefault(stream, 0)});
    return CudaResult.SUCCESS;
  }

  @Override
  public synchronized int cuEventQuery(long event) {
    long[] behind = events.get(event);
    return finished.getOrDefault(behind[0], 0) >= behind[1]
        ? CudaResult.SUCCESS
        : CudaResult.NOT_READY;
  }

  @Override
  public synchronized int cuStreamIsCapturing(long stream, long status) {
    checkThere(stream);
    Memory.putInt(status, stream == captured ? 1 : 0);
    return CudaResult.SUCCESS;
  }

  private void checkThere(long stream) {
    if (gone.contains(stream)) {
      throw new AssertionError("the stream " + stream + " is no more");
    }
  }

  @Override
  public int cuCtxSetCurrent(long ctx) {
    return CudaResult.SUCCESS;
  }
}
