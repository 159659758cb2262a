package graft.remoting.binding;

import com.sun.jna.Memory;
import graft.remoting.server.device.NativeDevice;
import graft.remoting.server.system.ServerException;

/**
 * The server's own binding: {@link NativeDevice}, by JNA's direct mapping, with plain addresses.
 */
final class JnaBinding implements Binding {
  private final NativeDevice device;
  private final Memory values = new Memory(4 * Long.BYTES);
  private final Memory parameters = new Memory(4 * Long.BYTES);
  private final Memory page = new Memory(4096);
  private final long parametersAddress = address(parameters);
  private final long pageAddress = address(page);

  JnaBinding() {
    try {
      device = NativeDevice.load();
    } catch (ServerException e) {
      throw new IllegalStateException(e);
    }
    for (int i = 0; i < 4; i++) {
      parameters.setLong((long) i * Long.BYTES, address(values) + (long) i * Long.BYTES);
    }
  }

  private static long address(Memory memory) {
    return com.sun.jna.Pointer.nativeValue(memory);
  }

  @Override
  public int launch() {
    return device.cuLaunchKernel(16, 256, 1, 1, 256, 1, 1, 0, 32, parametersAddress, 0);
  }

  @Override
  public int copy() {
    return device.cuMemcpyHtoDAsync_v2(64, pageAddress, 4096, 32);
  }

  @Override
  public int query() {
    return device.cuStreamQuery(32);
  }
}
