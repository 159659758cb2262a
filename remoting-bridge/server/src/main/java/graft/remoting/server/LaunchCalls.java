package graft.remoting.server;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;

/** Launches. The parameters come packed and go to the driver as they lie in the record. */
final class LaunchCalls {
  // CUlaunchConfig.
  private static final int CONFIG = 56;
  private static final int CONFIG_SHARED = 24;
  private static final int CONFIG_STREAM = 32;
  private static final int CONFIG_ATTRIBUTES = 40;
  private static final int CONFIG_COUNT = 48;

  // CUlaunchAttribute: the number, then the value at 8, which may begin with an event.
  private static final int ATTRIBUTE = 72;
  private static final int PROGRAMMATIC_EVENT = 7;
  private static final int LAUNCH_COMPLETION_EVENT = 12;

  private final CudaDevice device;
  private final HandleTables handles;
  private final PackedParameters packed = new PackedParameters();
  private final long config = Memory.allocate(CONFIG);

  LaunchCalls(CudaDevice device, HandleTables handles) {
    this.device = device;
    this.handles = handles;
  }

  int launch(
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

  /** Writes the launch's shape for the calls that take a CUlaunchConfig. */
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

  /** Puts the device's events where the attributes have ids; false if there is no such event. */
  private boolean resolveEvents(long attributes, int count) {
    for (int i = 0; attributes != 0 && i < count; i++) {
      long attribute = attributes + (long) ATTRIBUTE * i;
      int number = Memory.getInt(attribute);
      if (number == PROGRAMMATIC_EVENT || number == LAUNCH_COMPLETION_EVENT) {
        long event = handles.find(HandleKind.EVENT, Memory.getLong(attribute + 8));
        if (event == 0) {
          return false;
        }
        Memory.putLong(attribute + 8, event);
      }
    }
    return true;
  }

  int launchEx(
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
    if (!resolveEvents(attributes, attributeCount)) {
      return CudaResult.INVALID_HANDLE;
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
    return device.cuLaunchKernelEx(config, function, 0, packed.extra(parameters, parameterBytes));
  }

  int clusters(
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
