package graft.remoting.server.session.memory;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Extent;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Enters the memory that a session's calls allocate, map and register into the session's {@link
 * AddressSpace}, and removes the memory that they free. Every call that gives a client an address
 * belongs here; a test derives the list of those calls from {@code driver.api}.
 */
public final class TrackedDevice extends ForwardingDevice {
  /** The owner of the memory that nodes of graphs allocate. */
  private static final long GRAPHS = -1;

  private final AddressSpace space;
  private final KnownNumbers numbers = new KnownNumbers();

  /** The library of each module that was loaded from one. */
  private final Map<Long, Long> libraries = new HashMap<>();

  /** Graphs, executable or not: while any exists, their memory keeps its addresses. */
  private final Set<Long> graphs = new HashSet<>();

  public TrackedDevice(CudaDevice next) {
    super(next);
    this.space = new AddressSpace(next);
  }

  /** Returns the addresses that the session's records may name. */
  public AddressSpace space() {
    return space;
  }

  /** Returns the numbers that the driver gave to the session. */
  public KnownNumbers numbers() {
    return numbers;
  }

  /** Removes the memory of a destroyed context, which the driver has freed. */
  public void forgetContext(long context) {
    space.removeAll(range -> range.context() == context);
  }

  /** Enters {@code bytes} bytes at the address that a call wrote to {@code result}. */
  private int given(int code, long result, long bytes, long owner, long context) {
    if (code == CudaResult.SUCCESS && result != 0) {
      space.add(
          new AddressSpace.Range(
              Memory.getLong(result), bytes, AddressSpace.Kind.DEVICE, owner, context));
    }
    return code;
  }

  private int allocated(int code, long result, long bytes) {
    return code == CudaResult.SUCCESS
        ? given(code, result, bytes, 0, DeviceState.currentContext(next))
        : code;
  }

  /**
   * Removes memory that was freed; memory of graphs stays, since their next launch allocates it.
   */
  private int freed(int code, long address) {
    if (code == CudaResult.SUCCESS) {
      space.removeUnless(address, GRAPHS);
    }
    return code;
  }

  private int numbered(int code, KnownNumbers.Kind kind, long result) {
    if (code == CudaResult.SUCCESS && result != 0) {
      numbers.add(kind, Memory.getLong(result));
    }
    return code;
  }

  private int ended(int code, KnownNumbers.Kind kind, long number) {
    if (code == CudaResult.SUCCESS) {
      numbers.remove(kind, number);
    }
    return code;
  }

  // ---- allocations

  @Override
  public int cuMemAlloc_v2(long dptr, long bytes) {
    return allocated(next.cuMemAlloc_v2(dptr, bytes), dptr, bytes);
  }

  @Override
  public int cuMemAllocPitch_v2(long dptr, long pitch, long width, long height, int elementBytes) {
    int code = next.cuMemAllocPitch_v2(dptr, pitch, width, height, elementBytes);
    long bytes =
        code == CudaResult.SUCCESS && pitch != 0 ? Extent.times(Memory.getLong(pitch), height) : 0;
    return allocated(code, dptr, bytes);
  }

  @Override
  public int cuMemAllocAsync(long dptr, long bytes, long stream) {
    return allocatedIn(stream, next.cuMemAllocAsync(dptr, bytes, stream), dptr, bytes);
  }

  @Override
  public int cuMemAllocFromPoolAsync(long dptr, long bytes, long pool, long stream) {
    return allocatedIn(
        stream, next.cuMemAllocFromPoolAsync(dptr, bytes, pool, stream), dptr, bytes);
  }

  /** Enters an allocation in a stream; a captured one becomes a node of a graph. */
  private int allocatedIn(long stream, int code, long dptr, long bytes) {
    if (code != CudaResult.SUCCESS) {
      return code;
    }
    try (Scratch status = new Scratch(4)) {
      boolean captures =
          stream != 0
              && next.cuStreamIsCapturing(stream, status.address()) == CudaResult.SUCCESS
              && Memory.getInt(status.address()) != 0;
      return captures ? given(code, dptr, bytes, GRAPHS, 0) : allocated(code, dptr, bytes);
    }
  }

  @Override
  public int cuMemFree_v2(long dptr) {
    return freed(next.cuMemFree_v2(dptr), dptr);
  }

  @Override
  public int cuMemFreeAsync(long dptr, long stream) {
    return freed(next.cuMemFreeAsync(dptr, stream), dptr);
  }

  // ---- memory of other sessions

  /** Enters the allocation that a call opened; the driver knows its size. */
  private int opened(int code, long result) {
    if (code != CudaResult.SUCCESS || result == 0) {
      return code;
    }
    try (Scratch found = new Scratch(16)) {
      long at = found.address();
      if (next.cuMemGetAddressRange_v2(at, at + 8, Memory.getLong(result)) == CudaResult.SUCCESS) {
        long left = Memory.getLong(at) + Memory.getLong(at + 8) - Memory.getLong(result);
        given(code, result, left, 0, DeviceState.currentContext(next));
      }
    }
    return code;
  }

  @Override
  public int cuIpcOpenMemHandle_v2(long dptr, long handle, int flags) {
    return opened(next.cuIpcOpenMemHandle_v2(dptr, handle, flags), dptr);
  }

  /** Closes a handle; only the driver knows whether it is open a further time. */
  @Override
  public int cuIpcCloseMemHandle(long dptr) {
    return freed(next.cuIpcCloseMemHandle(dptr), dptr);
  }

  @Override
  public int cuMemPoolImportPointer(long dptr, long pool, long handle) {
    return opened(next.cuMemPoolImportPointer(dptr, pool, handle), dptr);
  }

  // ---- reserved addresses and physical memory

  @Override
  public int cuMemAddressReserve(long ptr, long bytes, long alignment, long wanted, long flags) {
    int code = next.cuMemAddressReserve(ptr, bytes, alignment, wanted, flags);
    if (code == CudaResult.SUCCESS && ptr != 0) {
      space.reserve(Memory.getLong(ptr), bytes);
    }
    return code;
  }

  @Override
  public int cuMemAddressFree(long ptr, long bytes) {
    int code = next.cuMemAddressFree(ptr, bytes);
    if (code == CudaResult.SUCCESS) {
      space.release(ptr);
    }
    return code;
  }

  @Override
  public int cuMemMap(long ptr, long bytes, long offset, long handle, long flags) {
    int code = next.cuMemMap(ptr, bytes, offset, handle, flags);
    if (code == CudaResult.SUCCESS) {
      space.add(new AddressSpace.Range(ptr, bytes, AddressSpace.Kind.MAPPED, 0, 0));
    }
    return code;
  }

  @Override
  public int cuMemUnmap(long ptr, long bytes) {
    int code = next.cuMemUnmap(ptr, bytes);
    if (code == CudaResult.SUCCESS) {
      space.unmap(ptr, bytes);
    }
    return code;
  }

  @Override
  public int cuMemCreate(long handle, long bytes, long properties, long flags) {
    return numbered(
        next.cuMemCreate(handle, bytes, properties, flags), KnownNumbers.Kind.MEMORY, handle);
  }

  @Override
  public int cuMemRetainAllocationHandle(long handle, long address) {
    return numbered(
        next.cuMemRetainAllocationHandle(handle, address), KnownNumbers.Kind.MEMORY, handle);
  }

  @Override
  public int cuMemImportFromShareableHandle(long handle, long from, int type) {
    return numbered(
        next.cuMemImportFromShareableHandle(handle, from, type), KnownNumbers.Kind.MEMORY, handle);
  }

  @Override
  public int cuMemRelease(long handle) {
    return ended(next.cuMemRelease(handle), KnownNumbers.Kind.MEMORY, handle);
  }

  // ---- memory of this process

  @Override
  public int cuMemHostRegister_v2(long address, long bytes, int flags) {
    int code = next.cuMemHostRegister_v2(address, bytes, flags);
    if (code == CudaResult.SUCCESS) {
      space.add(new AddressSpace.Range(address, bytes, AddressSpace.Kind.HOST, 0, 0));
    }
    return code;
  }

  @Override
  public int cuMemHostUnregister(long address) {
    space.remove(address);
    return next.cuMemHostUnregister(address);
  }

  // ---- variables of modules

  private interface Look {
    int at(long bytes);
  }

  /** Enters a variable, and queries the size if the client did not ask for it. */
  private int variable(long dptr, long bytes, long owner, Look look) {
    try (Scratch size = new Scratch(8)) {
      long sizeAt = bytes != 0 ? bytes : size.address();
      int code = look.at(sizeAt);
      return code == CudaResult.SUCCESS
          ? given(code, dptr, Memory.getLong(sizeAt), owner, DeviceState.currentContext(next))
          : code;
    }
  }

  @Override
  public int cuModuleGetGlobal_v2(long dptr, long bytes, long module, long name) {
    return variable(
        dptr, bytes, module, size -> next.cuModuleGetGlobal_v2(dptr, size, module, name));
  }

  @Override
  public int cuLibraryGetGlobal(long dptr, long bytes, long library, long name) {
    return variable(
        dptr, bytes, library, size -> next.cuLibraryGetGlobal(dptr, size, library, name));
  }

  @Override
  public int cuLibraryGetManaged(long dptr, long bytes, long library, long name) {
    return variable(
        dptr, bytes, library, size -> next.cuLibraryGetManaged(dptr, size, library, name));
  }

  @Override
  public int cuLibraryGetModule(long module, long library) {
    int code = next.cuLibraryGetModule(module, library);
    if (code == CudaResult.SUCCESS && module != 0) {
      libraries.put(Memory.getLong(module), library);
    }
    return code;
  }

  @Override
  public int cuModuleUnload(long module) {
    space.removeAll(range -> range.owner() == module);
    libraries.remove(module);
    return next.cuModuleUnload(module);
  }

  @Override
  public int cuLibraryUnload(long library) {
    space.removeAll(
        range -> range.owner() == library || libraries.getOrDefault(range.owner(), 0L) == library);
    libraries.values().removeIf(of -> of == library);
    return next.cuLibraryUnload(library);
  }

  // ---- graphs

  private int graph(int code, long result) {
    if (code == CudaResult.SUCCESS && result != 0) {
      graphs.add(Memory.getLong(result));
    }
    return code;
  }

  private void graphEnded(long graph) {
    if (graphs.remove(graph) && graphs.isEmpty()) {
      space.removeAll(range -> range.owner() == GRAPHS);
    }
  }

  /** Enters memory that a node of a graph allocates whenever the graph runs. */
  public void graphMemory(long address, long bytes) {
    space.add(new AddressSpace.Range(address, bytes, AddressSpace.Kind.DEVICE, GRAPHS, 0));
  }

  @Override
  public int cuGraphCreate(long graph, int flags) {
    return graph(next.cuGraphCreate(graph, flags), graph);
  }

  @Override
  public int cuGraphClone(long clone, long original) {
    return graph(next.cuGraphClone(clone, original), clone);
  }

  @Override
  public int cuStreamEndCapture(long stream, long graph) {
    return graph(next.cuStreamEndCapture(stream, graph), graph);
  }

  @Override
  public int cuGraphInstantiateWithParams(long exec, long graph, long parameters) {
    return graph(next.cuGraphInstantiateWithParams(exec, graph, parameters), exec);
  }

  @Override
  public int cuGraphDestroy(long graph) {
    graphEnded(graph);
    return next.cuGraphDestroy(graph);
  }

  @Override
  public int cuGraphExecDestroy(long exec) {
    graphEnded(exec);
    return next.cuGraphExecDestroy(exec);
  }

  @Override
  public int cuGraphConditionalHandleCreate(
      long handle, long graph, long context, int value, int flags) {
    return numbered(
        next.cuGraphConditionalHandleCreate(handle, graph, context, value, flags),
        KnownNumbers.Kind.CONDITION,
        handle);
  }

  // ---- textures and surfaces

  @Override
  public int cuTexObjectCreate(long texture, long resource, long descriptor, long view) {
    return numbered(
        next.cuTexObjectCreate(texture, resource, descriptor, view),
        KnownNumbers.Kind.TEXTURE,
        texture);
  }

  @Override
  public int cuTexObjectDestroy(long texture) {
    return ended(next.cuTexObjectDestroy(texture), KnownNumbers.Kind.TEXTURE, texture);
  }

  @Override
  public int cuSurfObjectCreate(long surface, long resource) {
    return numbered(next.cuSurfObjectCreate(surface, resource), KnownNumbers.Kind.SURFACE, surface);
  }

  @Override
  public int cuSurfObjectDestroy(long surface) {
    return ended(next.cuSurfObjectDestroy(surface), KnownNumbers.Kind.SURFACE, surface);
  }
}
