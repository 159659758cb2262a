package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.Native;
import java.nio.charset.StandardCharsets;

/** Checks of a call's arguments, and access to the memory that they point to. */
public final class CallerMemory {
  private CallerMemory() {}

  /** Fails the call with {@code CUDA_ERROR_INVALID_VALUE} unless the condition holds. */
  public static void require(boolean condition, String message) {
    if (!condition) {
      throw new CudaException(CudaResult.INVALID_VALUE, message);
    }
  }

  public static void putInt(long address, int value) {
    require(address != 0, "null pointer for a result");
    Native.UNSAFE.putInt(address, value);
  }

  public static void putLong(long address, long value) {
    require(address != 0, "null pointer for a result");
    Native.UNSAFE.putLong(address, value);
  }

  /** Returns three numbers, such as sizes along x, y and z. */
  public static int[] ints(long address) {
    return new int[] {
      Native.UNSAFE.getInt(address),
      Native.UNSAFE.getInt(address + 4),
      Native.UNSAFE.getInt(address + 8)
    };
  }

  /** Writes text with its final zero into a buffer, truncated to fit. */
  public static void putText(long address, int capacity, String text) {
    require(address != 0 && capacity > 0, "no room for text");
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, capacity - 1);
    Native.put(address, bytes, length);
    Native.UNSAFE.putByte(address + length, (byte) 0);
  }
}
