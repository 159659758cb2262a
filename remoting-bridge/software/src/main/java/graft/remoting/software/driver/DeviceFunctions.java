package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.memory.Native;

/**
 * CUDA driver API: "Initialization", "Version Management", "Device Management", "Primary Context".
 */
abstract class DeviceFunctions extends DriverBase {
  private static final int DRIVER_VERSION = 13000;

  DeviceFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  @Override
  public int cuInit(int flags) {
    if (flags != 0) {
      return CudaResult.INVALID_VALUE;
    }
    setInitialized();
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDriverGetVersion(long version) {
    return guard(() -> putInt(version, DRIVER_VERSION));
  }

  @Override
  public int cuDeviceGet(long device, int ordinal) {
    return call(() -> putInt(device, gpu(ordinal).ordinal()));
  }

  @Override
  public int cuDeviceGetCount(long count) {
    return call(() -> putInt(count, gpus().size()));
  }

  @Override
  public int cuDeviceGetName(long name, int length, int device) {
    return call(() -> putText(name, length, "Graft software device " + gpu(device).ordinal()));
  }

  @Override
  public int cuDeviceGetUuid(long uuid, int device) {
    return call(
        () -> {
          byte[] bytes = "graft-software-0".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
          bytes[15] += (byte) gpu(device).ordinal();
          require(uuid != 0, "null pointer for a result");
          Native.put(uuid, bytes, bytes.length);
        });
  }

  @Override
  public int cuDeviceGetUuid_v2(long uuid, int device) {
    return cuDeviceGetUuid(uuid, device);
  }

  @Override
  public int cuDeviceTotalMem_v2(long bytes, int device) {
    return call(() -> putLong(bytes, gpu(device).config().memoryBytes()));
  }

  @Override
  public int cuDeviceGetAttribute(long value, int attribute, int device) {
    return call(
        () -> {
          int found = DeviceAttributes.value(gpu(device), attribute);
          require(found != Integer.MIN_VALUE, "there is no device attribute " + attribute);
          putInt(value, found);
        });
  }

  @Override
  public int cuDeviceComputeCapability(long major, long minor, int device) {
    return call(
        () -> {
          putInt(major, gpu(device).config().computeMajor());
          putInt(minor, gpu(device).config().computeMinor());
        });
  }

  private static String busId(Gpu gpu) {
    return String.format("0000:%02X:00.0", gpu.ordinal() + 1);
  }

  @Override
  public int cuDeviceGetPCIBusId(long text, int length, int device) {
    return call(() -> putText(text, length, busId(gpu(device))));
  }

  @Override
  public int cuDeviceGetByPCIBusId(long device, long text) {
    return call(
        () -> {
          String wanted = Native.text(text).toUpperCase(java.util.Locale.ROOT);
          for (Gpu g : gpus()) {
            String full = busId(g);
            if (wanted.equals(full)
                || wanted.equals(full.substring(5))
                || wanted.equals(full.substring(0, 10))) {
              putInt(device, g.ordinal());
              return;
            }
          }
          throw new CudaException(CudaResult.INVALID_DEVICE, "no device at PCI " + wanted);
        });
  }

  @Override
  public int cuDeviceCanAccessPeer(long can, int device, int peer) {
    return call(
        () -> {
          gpu(device);
          gpu(peer);
          putInt(can, 0);
        });
  }

  @Override
  public int cuDeviceGetP2PAttribute(long value, int attribute, int source, int destination) {
    return call(
        () -> {
          gpu(source);
          gpu(destination);
          putInt(value, 0);
        });
  }

  @Override
  public int cuDeviceGetExecAffinitySupport(long value, int type, int device) {
    return call(
        () -> {
          gpu(device);
          putInt(value, 0);
        });
  }

  @Override
  public int cuDeviceGetTexture1DLinearMaxWidth(long width, int format, int channels, int device) {
    return call(
        () -> {
          gpu(device);
          putLong(width, 268435456);
        });
  }

  @Override
  public int cuDevicePrimaryCtxRetain(long context, int device) {
    return call(
        () -> {
          Context primary = gpu(device).retainPrimary();
          synchronized (primary) {
            if (primary.handle() == 0) {
              primary.setHandle(handles().add(primary));
            }
          }
          putLong(context, primary.handle());
        });
  }

  @Override
  public int cuDevicePrimaryCtxRelease_v2(int device) {
    return call(() -> end(gpu(device).releasePrimary()));
  }

  @Override
  public int cuDevicePrimaryCtxReset_v2(int device) {
    return call(() -> end(gpu(device).takePrimary()));
  }

  /** Destroys a context, which then is current for nobody. */
  protected final void end(Context context) {
    if (context != null) {
      handles().remove(context.handle());
      context.destroy();
      contextStack().remove(context);
    }
  }

  @Override
  public int cuDevicePrimaryCtxSetFlags_v2(int device, int flags) {
    return call(() -> gpu(device).setPrimaryFlags(flags));
  }

  @Override
  public int cuDevicePrimaryCtxGetState(int device, long flags, long active) {
    return call(
        () -> {
          putInt(flags, gpu(device).primaryFlags());
          putInt(active, gpu(device).isPrimaryActive() ? 1 : 0);
        });
  }
}
