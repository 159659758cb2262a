package graft.remoting.server.session.memory;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;

/** What a device says of the calling thread's context, and of its streams. */
public final class DeviceState {
  private static final int CAPTURES_NOT = 0; // CU_STREAM_CAPTURE_STATUS_NONE

  private DeviceState() {}

  /** Returns the current context, 0 without one. */
  static long currentContext(CudaDevice device) {
    try (Scratch context = new Scratch(8)) {
      return device.cuCtxGetCurrent(context.address()) == CudaResult.SUCCESS
          ? Memory.getLong(context.address())
          : 0;
    }
  }

  /** Returns whether a stream captures, or cannot be asked: a query would end the capture. */
  public static boolean mayCapture(CudaDevice device, long stream) {
    try (Scratch status = new Scratch(4)) {
      return device.cuStreamIsCapturing(stream, status.address()) != CudaResult.SUCCESS
          || Memory.getInt(status.address()) != CAPTURES_NOT;
    }
  }
}
