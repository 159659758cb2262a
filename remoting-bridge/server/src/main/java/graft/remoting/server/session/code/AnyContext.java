package graft.remoting.server.session.code;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.function.IntSupplier;

/** A context for questions about code, which need one whichever it is. */
final class AnyContext {
  private AnyContext() {}

  /**
   * Runs a query in the primary context if no context is current: if a program's first call is a
   * launch, its CUDA runtime asks about the code before it creates a context.
   */
  static int ask(CudaDevice device, IntSupplier question) {
    try (Scratch context = new Scratch(8)) {
      device.cuCtxGetCurrent(context.address());
      if (Memory.getLong(context.address()) != 0) {
        return question.getAsInt();
      }
      int result = device.cuDevicePrimaryCtxRetain(context.address(), 0);
      if (result != CudaResult.SUCCESS) {
        return result;
      }
      device.cuCtxPushCurrent_v2(Memory.getLong(context.address()));
      result = question.getAsInt();
      device.cuCtxPopCurrent_v2(context.address());
      device.cuDevicePrimaryCtxRelease_v2(0);
      return result;
    }
  }
}
