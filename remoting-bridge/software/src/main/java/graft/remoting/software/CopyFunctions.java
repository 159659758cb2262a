package graft.remoting.software;

import static graft.remoting.software.object.CallerMemory.require;
import static graft.remoting.software.object.Contexts.checkError;

import graft.remoting.device.CopyApi;
import graft.remoting.software.memory.Native;
import graft.remoting.software.object.CudaArray;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;

/** CUDA driver API: the copies of "Memory Management". */
final class CopyFunctions implements CopyApi {
  /**
   * Copies from pageable memory of up to this size are staged immediately, so that the call need
   * not wait.
   */
  private static final int STAGED = 64 << 10;

  private final Calls calls;
  private final Handles handles;
  private final Streams streams;
  private final Ranges ranges;
  private final BlockCopies blockCopies;

  CopyFunctions(
      Calls calls, Handles handles, Streams streams, Ranges ranges, BlockCopies blockCopies) {
    this.calls = calls;
    this.handles = handles;
    this.streams = streams;
    this.ranges = ranges;
    this.blockCopies = blockCopies;
  }

  private Runnable copyBody(long to, long from, long bytes) {
    return ranges.onlyWhileKnown(
        to, bytes, ranges.onlyWhileKnown(from, bytes, () -> Native.copy(from, to, bytes)));
  }

  private int copy(long to, long from, long bytes, boolean toDevice, boolean fromDevice) {
    return calls.run(
        () -> {
          check(to, from, bytes, toDevice, fromDevice);
          if (ranges.isReserved(to) && ranges.isReserved(from)) {
            // The host does not wait for copies between device memory ("API synchronization
            // behavior").
            streams.runLater(GraphNode.Type.MEMCPY, copyBody(to, from, bytes));
          } else {
            streams.runNow(GraphNode.Type.MEMCPY, copyBody(to, from, bytes));
          }
        });
  }

  private void check(long to, long from, long bytes, boolean toDevice, boolean fromDevice) {
    require(bytes >= 0, "negative size");
    if (toDevice) {
      ranges.checkDevice(to, bytes);
    } else {
      ranges.checkAny(to, bytes);
    }
    if (fromDevice) {
      ranges.checkDevice(from, bytes);
    } else {
      ranges.checkAny(from, bytes);
    }
  }

  private int copyAsync(
      long to, long from, long bytes, boolean toDevice, boolean fromDevice, long stream) {
    return calls.run(
        () -> {
          Stream s = streams.get(stream);
          check(to, from, bytes, toDevice, fromDevice);
          if (s.capture() != null || bytes == 0) {
            streams.submit(s, GraphNode.Type.MEMCPY, copyBody(to, from, bytes));
          } else if (!ranges.isDevice(to, bytes)) {
            // A copy to pageable memory returns when it has finished (CUDA driver API, "API
            // synchronization behavior").
            s.context().runInOrder(s, () -> Native.copy(from, to, bytes));
            checkError(s.context());
          } else if (ranges.isDevice(from, bytes)) {
            streams.submit(s, GraphNode.Type.MEMCPY, () -> Native.copy(from, to, bytes));
          } else if (bytes <= STAGED) {
            byte[] staged = Native.bytes(from, (int) bytes);
            streams.submit(s, GraphNode.Type.MEMCPY, () -> Native.put(to, staged, staged.length));
          } else {
            s.context().runInOrder(s, () -> Native.copy(from, to, bytes));
            checkError(s.context());
          }
        });
  }

  @Override
  public int cuMemcpy(long to, long from, long bytes) {
    return copy(to, from, bytes, false, false);
  }

  @Override
  public int cuMemcpyAsync(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, false, false, stream);
  }

  @Override
  public int cuMemcpyHtoD_v2(long to, long from, long bytes) {
    return copy(to, from, bytes, true, false);
  }

  @Override
  public int cuMemcpyHtoDAsync_v2(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, true, false, stream);
  }

  @Override
  public int cuMemcpyDtoH_v2(long to, long from, long bytes) {
    return copy(to, from, bytes, false, true);
  }

  @Override
  public int cuMemcpyDtoHAsync_v2(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, false, true, stream);
  }

  @Override
  public int cuMemcpyDtoD_v2(long to, long from, long bytes) {
    return copy(to, from, bytes, true, true);
  }

  @Override
  public int cuMemcpyDtoDAsync_v2(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, true, true, stream);
  }

  private long arrayPart(long handle, long offset, long bytes) {
    CudaArray array = handles.get(handle, CudaArray.class);
    require(
        offset >= 0 && bytes >= 0 && bytes <= array.bytes() && offset <= array.bytes() - bytes,
        "outside the array");
    return array.address() + offset;
  }

  @Override
  public int cuMemcpyHtoA_v2(long array, long offset, long from, long bytes) {
    return calls.run(() -> pass(copy(arrayPart(array, offset, bytes), from, bytes, true, false)));
  }

  @Override
  public int cuMemcpyHtoAAsync_v2(long array, long offset, long from, long bytes, long stream) {
    return calls.run(
        () -> pass(copyAsync(arrayPart(array, offset, bytes), from, bytes, true, false, stream)));
  }

  @Override
  public int cuMemcpyAtoH_v2(long to, long array, long offset, long bytes) {
    return calls.run(() -> pass(copy(to, arrayPart(array, offset, bytes), bytes, false, true)));
  }

  @Override
  public int cuMemcpyAtoHAsync_v2(long to, long array, long offset, long bytes, long stream) {
    return calls.run(
        () -> pass(copyAsync(to, arrayPart(array, offset, bytes), bytes, false, true, stream)));
  }

  @Override
  public int cuMemcpyDtoA_v2(long array, long offset, long from, long bytes) {
    return calls.run(() -> pass(copy(arrayPart(array, offset, bytes), from, bytes, true, true)));
  }

  @Override
  public int cuMemcpyAtoD_v2(long to, long array, long offset, long bytes) {
    return calls.run(() -> pass(copy(to, arrayPart(array, offset, bytes), bytes, true, true)));
  }

  @Override
  public int cuMemcpyAtoA_v2(long to, long toOffset, long from, long fromOffset, long bytes) {
    return calls.run(
        () ->
            pass(
                copy(
                    arrayPart(to, toOffset, bytes),
                    arrayPart(from, fromOffset, bytes),
                    bytes,
                    true,
                    true)));
  }

  /** Passes on the result of a call that was made within a call. */
  private static void pass(int result) {
    if (result != 0) {
      throw new CudaException(result, "copy failed");
    }
  }

  private void runAsync(BlockCopies.BlockCopy copy, Stream s) {
    if (copy.pageable() && s.capture() == null) {
      s.context().runInOrder(s, copy.body());
      checkError(s.context());
    } else {
      streams.submit(s, GraphNode.Type.MEMCPY, copy.body());
    }
  }

  @Override
  public int cuMemcpy2D_v2(long parameters) {
    return calls.run(
        () -> streams.runNow(GraphNode.Type.MEMCPY, blockCopies.copy2D(parameters).body()));
  }

  @Override
  public int cuMemcpy2DUnaligned_v2(long parameters) {
    return cuMemcpy2D_v2(parameters);
  }

  @Override
  public int cuMemcpy2DAsync_v2(long parameters, long stream) {
    return calls.run(() -> runAsync(blockCopies.copy2D(parameters), streams.get(stream)));
  }

  @Override
  public int cuMemcpy3D_v2(long parameters) {
    return calls.run(
        () -> streams.runNow(GraphNode.Type.MEMCPY, blockCopies.copy3D(parameters).body()));
  }

  @Override
  public int cuMemcpy3DAsync_v2(long parameters, long stream) {
    return calls.run(() -> runAsync(blockCopies.copy3D(parameters), streams.get(stream)));
  }
}
