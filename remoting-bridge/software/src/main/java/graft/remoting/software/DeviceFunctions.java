package graft.remoting.software;

import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.putText;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.device.DeviceApi;
import graft.remoting.software.memory.Native;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.DeviceAttributes;
import graft.remoting.software.object.Gpu;
import graft.remoting.software.object.Gpus;
import graft.remoting.software.object.Handles;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * CUDA driver API: "Initialization", "Version Management", "Device Management", "Primary Context".
 */
final class DeviceFunctions implements DeviceApi {
  private static final int DRIVER_VERSION = 13000;

  private final Calls calls;
  private final Gpus gpus;
  private final Handles handles;
  private final Contexts contexts;

  DeviceFunctions(Calls calls, Gpus gpus, Handles handles, Contexts contexts) {
    this.calls = calls;
    this.gpus = gpus;
    this.handles = handles;
    this.contexts = contexts;
  }

  @Override
  public int cuInit(int flags) {
    if (flags != 0) {
      return CudaResult.INVALID_VALUE;
    }
    calls.initialize();
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuDriverGetVersion(long version) {
    return calls.guard(() -> putInt(version, DRIVER_VERSION));
  }

  @Override
  public int cuDeviceGet(long device, int ordinal) {
    return calls.run(() -> putInt(device, gpus.get(ordinal).ordinal()));
  }

  @Override
  public int cuDeviceGetCount(long count) {
    return calls.run(() -> putInt(count, gpus.all().size()));
  }

  @Override
  public int cuDeviceGetName(long name, int length, int device) {
    return calls.run(
        () -> putText(name, length, "Graft software device " + gpus.get(device).ordinal()));
  }

  @Override
  public int cuDeviceGetUuid(long uuid, int device) {
    return calls.run(
        () -> {
          byte[] bytes = "graft-software-0".getBytes(StandardCharsets.US_ASCII);
          bytes[15] += (byte) gpus.get(device).ordinal();
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
    return calls.run(() -> putLong(bytes, gpus.get(device).memoryBytes()));
  }

  @Override
  public int cuDeviceGetAttribute(long value, int attribute, int device) {
    return calls.run(
        () -> {
          int found = DeviceAttributes.value(gpus.get(device), attribute);
          require(found != Integer.MIN_VALUE, "there is no device attribute " + attribute);
          putInt(value, found);
        });
  }

  @Override
  public int cuDeviceComputeCapability(long major, long minor, int device) {
    return calls.run(
        () -> {
          putInt(major, gpus.get(device).computeMajor());
          putInt(minor, gpus.get(device).computeMinor());
        });
  }

  private static String busId(Gpu gpu) {
    return String.format("0000:%02X:00.0", gpu.ordinal() + 1);
  }

  @Override
  public int cuDeviceGetPCIBusId(long text, int length, int device) {
    return calls.run(() -> putText(text, length, busId(gpus.get(device))));
  }

  @Override
  public int cuDeviceGetByPCIBusId(long device, long text) {
    return calls.run(
        () -> {
          String wanted = Native.text(text).toUpperCase(Locale.ROOT);
          for (Gpu g : gpus.all()) {
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
    return calls.run(
        () -> {
          gpus.get(device);
          gpus.get(peer);
          putInt(can, 0);
        });
  }

  @Override
  public int cuDeviceGetP2PAttribute(long value, int attribute, int source, int destination) {
    return calls.run(
        () -> {
          gpus.get(source);
          gpus.get(destination);
          if (source == destination) {
            throw new CudaException(CudaResult.INVALID_DEVICE, "a device is no peer of itself");
          }
          putInt(value, 0);
        });
  }

  @Override
  public int cuDeviceGetExecAffinitySupport(long value, int type, int device) {
    return calls.run(
        () -> {
          gpus.get(device);
          putInt(value, 0);
        });
  }

  @Override
  public int cuDeviceGetTexture1DLinearMaxWidth(long width, int format, int channels, int device) {
    return calls.run(
        () -> {
          gpus.get(device);
          putLong(width, 268435456);
        });
  }

  @Override
  public int cuDevicePrimaryCtxRetain(long context, int device) {
    return calls.run(
        () -> {
          Context primary = gpus.get(device).retainPrimary();
          synchronized (primary) {
            if (primary.handle() == 0) {
              primary.setHandle(handles.add(primary));
            }
          }
          putLong(context, primary.handle());
        });
  }

  @Override
  public int cuDevicePrimaryCtxRelease_v2(int device) {
    return calls.run(() -> contexts.end(gpus.get(device).releasePrimary()));
  }

  @Override
  public int cuDevicePrimaryCtxReset_v2(int device) {
    return calls.run(() -> contexts.end(gpus.get(device).takePrimary()));
  }

  @Override
  public int cuDevicePrimaryCtxSetFlags_v2(int device, int flags) {
    return calls.run(() -> gpus.get(device).setPrimaryFlags(flags));
  }

  @Override
  public int cuDevicePrimaryCtxGetState(int device, long flags, long active) {
    return calls.run(
        () -> {
          putInt(flags, gpus.get(device).primaryFlags());
          putInt(active, gpus.get(device).isPrimaryActive() ? 1 : 0);
        });
  }
}
