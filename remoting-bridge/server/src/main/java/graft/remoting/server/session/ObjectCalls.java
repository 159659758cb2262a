package graft.remoting.server.session;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.system.Scratch;

/** The calls on pools, textures and surfaces, whose structures contain handles. */
final class ObjectCalls implements SessionCalls.Resource {
  // CUDA_RESOURCE_DESC: the kind, then the array's or mipmapped array's handle.
  private static final int KIND_ARRAY = 0;
  private static final int KIND_MIPMAP = 1;
  private static final int RESOURCE_HANDLE = 8;

  private final CudaDevice device;

  ObjectCalls(CudaDevice device) {
    this.device = device;
  }

  /**
   * An attribute of a pool is an int or 64 bits wide. The result is zeroed first, so that an int
   * fills it with leading zeros.
   */
  @Override
  public int graftPoolGetAttribute(Call call, long pool, int attribute, long value) {
    return value == 0
        ? CudaResult.INVALID_VALUE
        : device.cuMemPoolGetAttribute(pool, attribute, value);
  }

  @Override
  public int graftPoolSetAttribute(Call call, long pool, int attribute, long value) {
    try (Scratch scratch = new Scratch(8)) {
      Memory.putLong(scratch.address(), value);
      return device.cuMemPoolSetAttribute(pool, attribute, scratch.address());
    }
  }

  @Override
  public int graftTextureCreate(
      Call call, long texture, long resource, long array, long mipmap, long descriptor, long view) {
    if (texture == 0 || resource == 0) {
      return CudaResult.INVALID_VALUE;
    }
    int kind = Memory.getInt(resource);
    if (kind == KIND_ARRAY) {
      Memory.putLong(resource + RESOURCE_HANDLE, array);
    } else if (kind == KIND_MIPMAP) {
      Memory.putLong(resource + RESOURCE_HANDLE, mipmap);
    }
    return device.cuTexObjectCreate(texture, resource, descriptor, view);
  }

  @Override
  public int graftSurfaceCreate(Call call, long surface, long resource, long array) {
    if (surface == 0 || resource == 0 || Memory.getInt(resource) != KIND_ARRAY) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(resource + RESOURCE_HANDLE, array);
    return device.cuSurfObjectCreate(surface, resource);
  }
}
