package graft.remoting.server.session.code;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.system.Scratch;

/** Asks the driver for the names and the attributes of functions and kernels. */
final class FunctionAttributes {
  /** A client may ask for more attributes, which have no bit in the mask. */
  private static final int MOST = Integer.SIZE;

  private static final int MAX_NAME = 1 << 16;

  private final CudaDevice device;

  FunctionAttributes(CudaDevice device) {
    this.device = device;
  }

  /** One attribute of a kernel of a library on a device, or of a function. */
  int one(long function, boolean kernel, int attribute, int ordinal, long value) {
    return kernel
        ? device.cuKernelGetAttribute(value, attribute, function, ordinal)
        : device.cuFuncGetAttribute(value, attribute, function);
  }

  /**
   * The first attributes on a device.
   *
   * @param known where the mask is written: bit N is set if the driver answers attribute N
   * @param values where the values are written, 4 bytes each; 0 for what the driver refuses
   */
  void all(long function, boolean kernel, int ordinal, long known, long values, int count) {
    int mask = 0;
    for (int i = 0; i < Math.min(count, MOST); i++) {
      long value = values + (long) Integer.BYTES * i;
      if (one(function, kernel, i, ordinal, value) == CudaResult.SUCCESS) {
        mask |= 1 << i;
      } else {
        Memory.putInt(value, 0);
      }
    }
    Memory.putInt(known, mask);
  }

  /**
   * The same on the device of the call's context. There are none if the call has no context: the
   * current one is then that of an earlier call, and perhaps on another device.
   */
  void here(Call call, long function, boolean kernel, long known, long values, int count) {
    if (call.contextId() == 0 || known == 0 || values == 0) {
      return;
    }
    try (Scratch ordinal = new Scratch(Integer.BYTES)) {
      if (device.cuCtxGetDevice(ordinal.address()) == CudaResult.SUCCESS) {
        all(function, kernel, Memory.getInt(ordinal.address()), known, values, count);
      }
    }
  }

  /** Writes as much of the name as there is room for, and a zero behind it, in zeroed memory. */
  int name(long function, boolean kernel, long name, int capacity) {
    if (name == 0 || capacity <= 0) {
      return CudaResult.INVALID_VALUE;
    }
    try (Scratch pointer = new Scratch(8)) {
      int result =
          kernel
              ? device.cuKernelGetName(pointer.address(), function)
              : device.cuFuncGetName(pointer.address(), function);
      long text = Memory.getLong(pointer.address());
      if (result != CudaResult.SUCCESS || text == 0) {
        return result;
      }
      int limit = Math.min(capacity - 1, MAX_NAME);
      int length = 0;
      while (length < limit && Memory.getByte(text + length) != 0) {
        length++;
      }
      Memory.copy(text, name, length);
      return CudaResult.SUCCESS;
    }
  }
}
