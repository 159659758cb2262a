package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;

/** Captures, graphs, textures and surfaces: what has a structure with handles in it. */
final class ObjectCalls {
  // CUDA_RESOURCE_DESC: the kind, then the array's or mipmapped array's handle.
  private static final int KIND_ARRAY = 0;
  private static final int KIND_MIPMAP = 1;
  private static final int RESOURCE_HANDLE = 8;

  private final CudaDevice device;

  ObjectCalls(CudaDevice device) {
    this.device = device;
  }

  int captureInfo(long stream, long status, long id, long graph, long dependencies) {
    try (Scratch scratch = new Scratch(16)) {
      long statusAt = status != 0 ? status : scratch.address();
      // The list of dependencies stays here; a program gets their number.
      return device.cuStreamGetCaptureInfo_v2(
          stream, statusAt, id, graph, scratch.address() + 8, dependencies);
    }
  }

  int nodes(long graph, int roots, long nodes, long capacity, long count) {
    if (count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(count, capacity);
    long list = capacity == 0 ? 0 : nodes;
    return roots != 0
        ? device.cuGraphGetRootNodes(graph, list, count)
        : device.cuGraphGetNodes(graph, list, count);
  }

  int texture(long texture, long resource, long array, long mipmap, long descriptor, long view) {
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

  int surface(long surface, long resource, long array) {
    if (surface == 0 || resource == 0 || Memory.getInt(resource) != KIND_ARRAY) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(resource + RESOURCE_HANDLE, array);
    return device.cuSurfObjectCreate(surface, resource);
  }
}
