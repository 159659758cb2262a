package graft.remoting.server.backend;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.HandleFiles;

/**
 * A device that can be told to keep the GPU out of it: work is then not queued and its answer is
 * success. For a rehearsal, which would otherwise take the GPU's time slices from the sessions that
 * use it. Stays in place for the session, so that the code that was compiled for the one is right
 * for the other.
 */
final class PretendingDevice extends ForwardingDevice implements HandleFiles {
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

  /** Keeps the GPU out of it, or not. For one thread, before the session. */
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
