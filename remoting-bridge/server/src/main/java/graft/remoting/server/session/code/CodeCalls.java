package graft.remoting.server.session.code;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.HandleTables;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.memory.HostCountedDevice;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.software.DeviceCode.Findings;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/** The calls on modules and libraries, and on their functions and kernels. */
public final class CodeCalls implements SessionCalls.Code {
  /** The largest image that is accepted. */
  private static final long MAX_IMAGE = 2L << 30;

  private final CudaDevice device;
  private final PrintingCode printing;
  private final SystemAtomics atomics;
  private final CodeSearch search;
  private final KeptCode kept;
  private final HostCountedDevice counted;
  private final HostMemory memory;
  private final HandleTables handles;
  private final FunctionAttributes attributes;
  private final Set<Long> kernels = new HashSet<>();
  private final KernelParameters parameters;

  /**
   * Creates the calls of a session.
   *
   * @param counted counts the code that the driver keeps
   * @param memory counts images while they are loaded
   */
  public CodeCalls(
      CudaDevice device,
      HostCountedDevice counted,
      HostMemory memory,
      HandleTables handles,
      PrintingCode printing,
      SystemAtomics atomics,
      CodeSearch search,
      KeptCode kept) {
    this.device = device;
    this.counted = counted;
    this.memory = memory;
    this.handles = handles;
    this.attributes = new FunctionAttributes(device);
    this.parameters = new KernelParameters(device, kernels);
    this.printing = printing;
    this.atomics = atomics;
    this.search = search;
    this.kept = kept;
  }

  /** Returns how the parameters of this session's kernels lie in memory. */
  public KernelParameters parameters() {
    return parameters;
  }

  /**
   * Reads the image that follows the record, passes it to the driver, and frees it: the driver
   * keeps a copy of its own.
   */
  static int withImage(Call call, HostMemory memory, long bytes, ImageUser user) {
    return withImage(
        call,
        memory,
        bytes,
        user,
        image -> {
          Memory.free(image);
          memory.give(bytes);
        });
  }

  /** As above, but passes the memory to {@code end}, which frees it and stops counting it. */
  private static int withImage(
      Call call, HostMemory memory, long bytes, ImageUser user, LongConsumer end) {
    if (bytes == 0 || bytes > MAX_IMAGE) {
      return CudaResult.INVALID_IMAGE;
    }
    if (!memory.take(bytes)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    // The image is followed by a zero byte, in case it is PTX text.
    long image = Memory.allocate(bytes + 8);
    try {
      Memory.putLong(image + bytes, 0);
      call.readBulk(image, bytes);
      return user.use(image);
    } finally {
      end.accept(image);
    }
  }

  /** Loads code, which may be several fat binaries that are to be linked. */
  private int use(long image, long bytes, ImageUser user) {
    if (bytes < 8 || Memory.getInt(image) != FatbinWrapper.MAGIC) {
      CompletableFuture<Findings> found = search.search(image, bytes);
      printing.loaded(found);
      atomics.loaded(found);
      return user.use(image);
    }
    printing.loadedOther();
    try (FatbinWrapper wrapper = FatbinWrapper.read(image, bytes)) {
      return wrapper == null ? CudaResult.INVALID_IMAGE : user.use(wrapper.address());
    }
  }

  /** Loads the code that follows the record, and keeps it for later sessions. */
  private int withCode(Call call, long bytes, ImageUser user) {
    return withImage(
        call, memory, bytes, image -> use(image, bytes, user), image -> kept.take(image, bytes));
  }

  interface ImageUser {
    int use(long image);
  }

  @Override
  public int graftKnownCode(Call call, long hashes, int capacity, long count) {
    return kept.known(hashes, capacity, count);
  }

  @Override
  public int graftModuleLoad(
      Call call,
      long module,
      long bytes,
      long optionPairs,
      int optionWords,
      long infoLog,
      long errorLog,
      int logCapacity) {
    JitOptions.Wanted options =
        new JitOptions.Wanted(optionPairs, optionWords, infoLog, errorLog, logCapacity);
    return withCode(call, bytes, image -> loadModule(module, image, bytes, options));
  }

  @Override
  public int graftModuleLoadKnown(
      Call call,
      long module,
      long hash,
      long optionPairs,
      int optionWords,
      long infoLog,
      long errorLog,
      int logCapacity) {
    JitOptions.Wanted options =
        new JitOptions.Wanted(optionPairs, optionWords, infoLog, errorLog, logCapacity);
    return kept.use(
        hash,
        (code, bytes) -> use(code, bytes, image -> loadModule(module, image, bytes, options)));
  }

  private int loadModule(long module, long image, long bytes, JitOptions.Wanted options) {
    try (JitOptions jit = options.open()) {
      HostCountedDevice.Loading load =
          () -> device.cuModuleLoadDataEx(module, image, jit.count(), jit.names(), jit.values());
      return counted.load(module, bytes, true, load);
    }
  }

  @Override
  public int graftLibraryLoad(Call call, long library, long bytes) {
    return withCode(call, bytes, image -> loadLibrary(library, image, bytes));
  }

  @Override
  public int graftLibraryLoadKnown(Call call, long library, long hash) {
    return kept.use(
        hash, (code, bytes) -> use(code, bytes, image -> loadLibrary(library, image, bytes)));
  }

  private int loadLibrary(long library, long image, long bytes) {
    HostCountedDevice.Loading load =
        () -> device.cuLibraryLoadData(library, image, 0, 0, 0, 0, 0, 0);
    return counted.load(library, bytes, false, load);
  }

  @Override
  public int graftModuleGetFunction_v2(
      Call call,
      long function,
      long module,
      long name,
      long count,
      long layout,
      int capacity,
      long known,
      long values,
      int valueCount) {
    int result = graftModuleGetFunction(call, function, module, name, count, layout, capacity);
    if (result == CudaResult.SUCCESS) {
      attributes.here(call, Memory.getLong(function), false, known, values, valueCount);
    }
    return result;
  }

  @Override
  public int graftModuleGetFunction(
      Call call, long function, long module, long name, long count, long layout, int capacity) {
    handles.madeOf(HandleKind.MODULE, module);
    int result = device.cuModuleGetFunction(function, module, name);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    long handle = Memory.getLong(function);
    kernels.remove(handle);
    return parameters.layout(handle, count, layout, capacity);
  }

  @Override
  public int graftLibraryGetKernel_v2(
      Call call,
      long function,
      long library,
      long name,
      long count,
      long layout,
      int capacity,
      long known,
      long values,
      int valueCount) {
    int result = graftLibraryGetKernel(call, function, library, name, count, layout, capacity);
    if (result == CudaResult.SUCCESS) {
      attributes.here(call, Memory.getLong(function), true, known, values, valueCount);
    }
    return result;
  }

  @Override
  public int graftLibraryGetKernel(
      Call call, long function, long library, long name, long count, long layout, int capacity) {
    handles.madeOf(HandleKind.LIBRARY, library);
    int result = device.cuLibraryGetKernel(function, library, name);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    long handle = Memory.getLong(function);
    kernels.add(handle);
    return parameters.layout(handle, count, layout, capacity);
  }

  @Override
  public int graftLibraryEnumerate(Call call, long library, long list, int count) {
    if (list == 0) {
      return CudaResult.INVALID_VALUE;
    }
    handles.madeOf(HandleKind.LIBRARY, library);
    int result = device.cuLibraryEnumerateKernels(list, count, library);
    for (int i = 0; result == CudaResult.SUCCESS && i < count; i++) {
      kernels.add(Memory.getLong(list + 8L * i));
    }
    return result;
  }

  /** Returns a managed variable, which this process can read like the device. */
  @Override
  public int graftLibraryGetManaged(
      Call call, long library, long name, long address, long bytes, long contents, int capacity) {
    if (address == 0 || bytes == 0) {
      return CudaResult.INVALID_VALUE;
    }
    int result =
        AnyContext.ask(device, () -> device.cuLibraryGetManaged(address, bytes, library, name));
    if (result == CudaResult.SUCCESS && contents != 0) {
      long known = Math.min(Memory.getLong(bytes), capacity);
      Memory.copy(Memory.getLong(address), contents, known);
    }
    return result;
  }

  /** Lists the functions of a module, up to the capacity. */
  @Override
  public int graftModuleEnumerate(Call call, long module, long list, int capacity, long count) {
    if (count == 0 || list == 0) {
      return CudaResult.INVALID_VALUE;
    }
    handles.madeOf(HandleKind.MODULE, module);
    int result = device.cuModuleGetFunctionCount(count, module);
    int there = Math.min(capacity, Memory.getInt(count));
    return result == CudaResult.SUCCESS && there > 0
        ? device.cuModuleEnumerateFunctions(list, there, module)
        : result;
  }

  /**
   * Returns the offset and size of each parameter, by which the client packs the parameters of a
   * launch.
   */
  @Override
  public int graftFunctionLayout(Call call, long function, long count, long layout, int capacity) {
    return parameters.layout(function, count, layout, capacity);
  }

  @Override
  public int graftFunctionName(Call call, long function, long name, int capacity) {
    return attributes.name(function, kernels.contains(function), name, capacity);
  }

  @Override
  public int graftFunctionAttributes(
      Call call, long function, int dev, long known, long values, int valueCount) {
    if (known == 0 || values == 0) {
      return CudaResult.INVALID_VALUE;
    }
    attributes.all(function, kernels.contains(function), dev, known, values, valueCount);
    return CudaResult.SUCCESS;
  }

  @Override
  public int graftFunctionGetAttribute(
      Call call, long function, int attribute, int dev, long value) {
    return value == 0
        ? CudaResult.INVALID_VALUE
        : attributes.one(function, kernels.contains(function), attribute, dev, value);
  }

  @Override
  public int graftFunctionSetAttribute(
      Call call, long function, int attribute, int value, int dev) {
    return kernels.contains(function)
        ? device.cuKernelSetAttribute(attribute, value, function, dev)
        : device.cuFuncSetAttribute(function, attribute, value);
  }
}
