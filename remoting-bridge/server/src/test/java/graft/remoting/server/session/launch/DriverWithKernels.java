package graft.remoting.server.session.launch;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;

/** A driver for tests whose kernels have a parameter of 8 bytes and one of 4. */
class DriverWithKernels implements CudaDevice {
  boolean knowsParameters = true;

  @Override
  public int cuCtxGetCurrent(long context) {
    Memory.putLong(context, 1);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuFuncGetParamInfo(long function, long index, long offset, long size) {
    if (!knowsParameters) {
      return CudaResult.NOT_SUPPORTED;
    }
    Memory.putLong(offset, 8 * index);
    Memory.putLong(size, index == 0 ? 8 : 4);
    return index < 2 ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
  }
}
