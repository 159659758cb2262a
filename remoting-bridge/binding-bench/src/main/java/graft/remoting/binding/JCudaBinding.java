package graft.remoting.binding;

import java.nio.ByteBuffer;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * JCuda under the best conditions: all objects that JCuda takes instead of addresses are created in
 * advance. A server would have to create them for each record.
 */
final class JCudaBinding implements Binding {
  private final CUfunction function = new CUfunction();
  private final CUstream stream = new CUstream();
  private final CUdeviceptr device = new CUdeviceptr();
  private final Pointer page = Pointer.to(ByteBuffer.allocateDirect(4096));
  private final Pointer parameters =
      Pointer.to(
          Pointer.to(new long[1]),
          Pointer.to(new long[1]),
          Pointer.to(new long[1]),
          Pointer.to(new long[1]));

  @Override
  public int launch() {
    return JCudaDriver.cuLaunchKernel(function, 256, 1, 1, 256, 1, 1, 0, stream, parameters, null);
  }

  @Override
  public int copy() {
    return JCudaDriver.cuMemcpyHtoDAsync(device, page, 4096, stream);
  }

  @Override
  public int query() {
    return JCudaDriver.cuStreamQuery(stream);
  }
}
