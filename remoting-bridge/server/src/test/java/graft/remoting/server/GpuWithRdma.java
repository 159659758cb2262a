package graft.remoting.server;

import graft.remoting.device.CudaResult;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import java.util.ArrayList;
import java.util.List;

/** A fake GPU that reports whether and how adapters can access its memory. */
public final class GpuWithRdma extends ForwardingDevice {
  public int supported = 1;
  public int flushOptions = 1;
  public int ordering = 100;
  public int capable = 1;
  public long context = 0xC0;
  public int flushes;
  public final List<Long> synced = new ArrayList<>();

  public GpuWithRdma(FakeCuda next) {
    super(next);
  }

  @Override
  public int cuDeviceGetAttribute(long value, int attribute, int device) {
    switch (attribute) {
      case 116 -> Memory.putInt(value, supported);
      case 117 -> Memory.putInt(value, flushOptions);
      case 118 -> Memory.putInt(value, ordering);
      default -> {
        return CudaResult.INVALID_VALUE;
      }
    }
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuPointerGetAttribute(long data, int attribute, long pointer) {
    if (attribute == 1) {
      Memory.putLong(data, context);
    } else {
      Memory.putInt(data, capable);
    }
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuPointerSetAttribute(long value, int attribute, long pointer) {
    if (attribute != 6 || Memory.getInt(value) != 1) {
      return CudaResult.INVALID_VALUE;
    }
    synced.add(pointer);
    return CudaResult.SUCCESS;
  }

  @Override
  public int cuFlushGPUDirectRDMAWrites(int target, int scope) {
    flushes++;
    return target == 0 && scope == 100 ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
  }
}
