package graft.remoting.server.backend;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.HandleFiles;
import graft.remoting.device.Memory;

/**
 * A device that can be told not to queue work on the GPU, and not to allocate, and to return
 * success instead. The warm-up uses it, because real work would take time slices of the GPU from
 * the sessions that use it. It stays in place for the session, so that the code which the JIT
 * compiler produced during the warm-up is valid for the session too.
 */
final class PretendingDevice extends ForwardingDevice implements HandleFiles {
  /** The address of allocations that are only pretended; no memory lies there. */
  private static final long NOWHERE = 1L << 40;

  private boolean pretends;

  PretendingDevice(CudaDevice next) {
    super(next);
  }

  @Override
  public int file(long handle) {
    return HandleFiles.of(next).file(handle);
  }

  @Override
  public void adopt(long handle, int descriptor) {
    HandleFiles.of(next).adopt(handle, descriptor);
  }

  /** Sets whether work is only pretended. Only one thread may call this, before the session. */
  void pretend(boolean value) {
    pretends = value;
  }

  @Override
  public int cuLaunchKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters,
      long extra) {
    return pretends
        ? CudaResult.SUCCESS
        : next.cuLaunchKernel(
            function,
            gridX,
            gridY,
            gridZ,
            blockX,
            blockY,
            blockZ,
            sharedBytes,
            stream,
            parameters,
            extra);
  }

  @Override
  public int cuMemAlloc_v2(long pointer, long bytes) {
    if (!pretends) {
      return next.cuMemAlloc_v2(pointer, bytes);
    }
    Memory.putLong(pointer, NOWHERE);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuMemFree_v2(long pointer) {
    return pretends ? CudaResult.SUCCESS : next.cuMemFree_v2(pointer);
  }

  @Override
  public int cuMemcpyHtoDAsync_v2(long target, long source, long bytes, long stream) {
    return pretends ? CudaResult.SUCCESS : next.cuMemcpyHtoDAsync_v2(target, source, bytes, stream);
  }

  @Override
  public int cuMemcpyDtoHAsync_v2(long target, long source, long bytes, long stream) {
    return pretends ? CudaResult.SUCCESS : next.cuMemcpyDtoHAsync_v2(target, source, bytes, stream);
  }

  @Override
  public int cuMemsetD8Async(long target, int value, long bytes, long stream) {
    return pretends ? CudaResult.SUCCESS : next.cuMemsetD8Async(target, value, bytes, stream);
  }

  @Override
  public int cuEventRecord(long event, long stream) {
    return pretends ? CudaResult.SUCCESS : next.cuEventRecord(event, stream);
  }
}
