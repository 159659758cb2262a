package graft.remoting.software;

import graft.remoting.device.FillApi;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;

/** CUDA driver API: the fills of "Memory Management". */
final class FillFunctions implements FillApi {
  private final Calls calls;
  private final Streams streams;
  private final Ranges ranges;
  private final Fills fills;

  FillFunctions(Calls calls, Streams streams, Ranges ranges, Fills fills) {
    this.calls = calls;
    this.streams = streams;
    this.ranges = ranges;
    this.fills = fills;
  }

  private int set(long address, long pitch, int value, int size, long width, long height) {
    return calls.run(
        () -> {
          Runnable body = fills.fill(address, pitch, value, size, width, height);
          if (ranges.isReserved(address)) {
            streams.runLater(GraphNode.Type.MEMSET, body);
          } else {
            // A fill of host memory returns when it has finished ("API synchronization behavior").
            streams.runNow(GraphNode.Type.MEMSET, body);
          }
        });
  }

  private int setAsync(
      long address, long pitch, int value, int size, long width, long height, long stream) {
    return calls.run(
        () -> {
          Stream s = streams.get(stream);
          Runnable body =
              s.capture() == null
                  ? fills.fill(address, pitch, value, size, width, height)
                  : fills.captured(address, pitch, value, size, width, height);
          streams.submit(s, GraphNode.Type.MEMSET, body);
        });
  }

  @Override
  public int cuMemsetD8_v2(long address, int value, long count) {
    return set(address, 0, value, 1, count, 1);
  }

  @Override
  public int cuMemsetD16_v2(long address, int value, long count) {
    return set(address, 0, value, 2, count, 1);
  }

  @Override
  public int cuMemsetD32_v2(long address, int value, long count) {
    return set(address, 0, value, 4, count, 1);
  }

  @Override
  public int cuMemsetD8Async(long address, int value, long count, long stream) {
    return setAsync(address, 0, value, 1, count, 1, stream);
  }

  @Override
  public int cuMemsetD16Async(long address, int value, long count, long stream) {
    return setAsync(address, 0, value, 2, count, 1, stream);
  }

  @Override
  public int cuMemsetD32Async(long address, int value, long count, long stream) {
    return setAsync(address, 0, value, 4, count, 1, stream);
  }

  @Override
  public int cuMemsetD2D8_v2(long address, long pitch, int value, long width, long height) {
    return set(address, pitch, value, 1, width, height);
  }

  @Override
  public int cuMemsetD2D16_v2(long address, long pitch, int value, long width, long height) {
    return set(address, pitch, value, 2, width, height);
  }

  @Override
  public int cuMemsetD2D32_v2(long address, long pitch, int value, long width, long height) {
    return set(address, pitch, value, 4, width, height);
  }

  @Override
  public int cuMemsetD2D8Async(
      long address, long pitch, int value, long width, long height, long stream) {
    return setAsync(address, pitch, value, 1, width, height, stream);
  }

  @Override
  public int cuMemsetD2D16Async(
      long address, long pitch, int value, long width, long height, long stream) {
    return setAsync(address, pitch, value, 2, width, height, stream);
  }

  @Override
  public int cuMemsetD2D32Async(
      long address, long pitch, int value, long width, long height, long stream) {
    return setAsync(address, pitch, value, 4, width, height, stream);
  }
}
