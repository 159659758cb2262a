package graft.remoting.server.session.launch;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;

/**
 * The calls that launch kernels. The kernel's parameters arrive packed and are passed to the driver
 * in place.
 */
public final class LaunchCalls implements SessionCalls.Launch {
  // CUlaunchConfig.
  private static final int CONFIG = 56;
  private static final int CONFIG_SHARED = 24;
  private static final int CONFIG_STREAM = 32;
  private static final int CONFIG_ATTRIBUTES = 40;
  private static final int CONFIG_COUNT = 48;

  private final CudaDevice device;
  private final PackedParameters packed = new PackedParameters();
  private final long config = Memory.allocate(CONFIG);

  public LaunchCalls(CudaDevice device) {
    this.device = device;
  }

  @Override
  public int graftLaunch(
      Call call,
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
      int parameterBytes) {
    return device.cuLaunchKernel(
        function,
        gridX,
        gridY,
        gridZ,
        blockX,
        blockY,
        blockZ,
        sharedBytes,
        stream,
        0,
        packed.extra(parameters, parameterBytes));
  }

  /** Writes the launch's configuration for the calls that take a CUlaunchConfig. */
  private void configure(
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long attributes,
      int attributeCount) {
    Memory.putInt(config, gridX);
    Memory.putInt(config + 4, gridY);
    Memory.putInt(config + 8, gridZ);
    Memory.putInt(config + 12, blockX);
    Memory.putInt(config + 16, blockY);
    Memory.putInt(config + 20, blockZ);
    Memory.putInt(config + CONFIG_SHARED, sharedBytes);
    Memory.putLong(config + CONFIG_STREAM, stream);
    Memory.putLong(config + CONFIG_ATTRIBUTES, attributes);
    Memory.putLong(config + CONFIG_COUNT, attributes == 0 ? 0 : attributeCount);
  }

  @Override
  public int graftLaunchEx(
      Call call,
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long attributes,
      int attributeCount,
      long parameters,
      int parameterBytes) {
    configure(
        gridX,
        gridY,
        gridZ,
        blockX,
        blockY,
        blockZ,
        sharedBytes,
        stream,
        attributes,
        attributeCount);
    return device.cuLaunchKernelEx(config, function, 0, packed.extra(parameters, parameterBytes));
  }

  @Override
  public int graftOccupancyClusters(
      Call call,
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long attributes,
      int attributeCount,
      int potential,
      long value) {
    if (value == 0) {
      return CudaResult.INVALID_VALUE;
    }
    configure(
        gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, 0, attributes, attributeCount);
    return potential != 0
        ? device.cuOccupancyMaxPotentialClusterSize(value, function, config)
        : device.cuOccupancyMaxActiveClusters(value, function, config);
  }
}
