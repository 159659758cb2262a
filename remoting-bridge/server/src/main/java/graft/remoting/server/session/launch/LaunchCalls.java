package graft.remoting.server.session.launch;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.code.KernelParameters;
import graft.remoting.server.session.memory.DeviceState;

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

  // CUlaunchAttribute, and those of CUlaunchAttributeID that matter here.
  private static final int ATTRIBUTE = 72;
  private static final int ATTRIBUTE_VALUE = 8;
  private static final int COOPERATIVE = 2;
  private static final int CLUSTER_DIMENSION = 4;

  /** More than a cluster can be wide on any GPU. */
  private static final int MOST_WIDTHS = 64;

  private final CudaDevice device;
  private final KernelParameters parameters;
  private final PackedParameters packed = new PackedParameters();
  private final long config = Memory.allocate(CONFIG);

  public LaunchCalls(CudaDevice device, KernelParameters parameters) {
    this.device = device;
    this.parameters = parameters;
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
      long packedParameters,
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
        packed.extra(packedParameters, parameterBytes));
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
      long packedParameters,
      int parameterBytes) {
    if (isCooperative(attributes, attributeCount) && DeviceState.mayCapture(device, stream)) {
      long pointers = parameters.pointersTo(function, packedParameters, parameterBytes);
      if (pointers != 0) {
        return device.cuLaunchCooperativeKernel(
            function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, pointers);
      }
    }
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
    return device.cuLaunchKernelEx(
        config, function, 0, packed.extra(packedParameters, parameterBytes));
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

  @Override
  public int graftOccupancyClusters_v2(
      Call call,
      long function,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long attributes,
      int attributeCount,
      int potential,
      long errors,
      long values,
      int count) {
    long width = clusterWidth(attributes, attributeCount);
    if (errors == 0 || values == 0 || count < 1 || count > MOST_WIDTHS) {
      return CudaResult.INVALID_VALUE;
    }
    for (int i = 0; i < count; i++) {
      if (width != 0) {
        Memory.putInt(width, i + 1);
      }
      int result =
          graftOccupancyClusters(
              call,
              function,
              i + 1,
              gridY,
              gridZ,
              blockX,
              blockY,
              blockZ,
              sharedBytes,
              attributes,
              attributeCount,
              potential,
              values + 4L * i);
      Memory.putInt(errors + 4L * i, result);
    }
    return CudaResult.SUCCESS;
  }

  /**
   * Returns whether a launch is cooperative and nothing else. The driver has a call for such
   * launches, which takes no packed buffer. In a capture it has to be that call: an H200 (driver
   * 580) refused such launches there with an attribute and a packed buffer.
   */
  private static boolean isCooperative(long attributes, int count) {
    return attributes != 0
        && count == 1
        && Memory.getInt(attributes) == COOPERATIVE
        && Memory.getInt(attributes + ATTRIBUTE_VALUE) == 1;
  }

  /** Returns the address of the clusters' width among the attributes, 0 if there is none. */
  private static long clusterWidth(long attributes, int count) {
    long width = 0;
    for (int i = 0; attributes != 0 && i < count; i++) {
      long attribute = attributes + (long) ATTRIBUTE * i;
      if (Memory.getInt(attribute) == CLUSTER_DIMENSION) {
        width = attribute + ATTRIBUTE_VALUE;
      }
    }
    return width;
  }
}
