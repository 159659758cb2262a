package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.image.Image;
import graft.remoting.software.ir.Program;
import graft.remoting.software.memory.Native;
import graft.remoting.software.module.CompiledModule;
import graft.remoting.software.module.LoadedModule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** CUDA driver API: "Module Management", "Library Management", "Execution Control" (attributes). */
abstract class ModuleFunctions extends SharingFunctions {
  /** CU_MODULE_LAZY_LOADING. */
  private static final int LAZY = 2;

  /** Zero-terminated names that the driver owns, by text. */
  private final Map<String, Long> names = new ConcurrentHashMap<>();

  ModuleFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  private CompiledModule compile(long image) {
    require(image != 0, "no image");
    SoftwareDeviceConfig config = gpus().get(0).config();
    return CompiledModule.of(Image.ptx(image, config.computeMajor() * 10 + config.computeMinor()));
  }

  private CompiledModule compileFile(long fileName) {
    String name = Native.text(fileName);
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(Path.of(name));
    } catch (IOException e) {
      throw new CudaException(CudaResult.FILE_NOT_FOUND, "cannot read " + name);
    }
    long copy = UNSAFE.allocateMemory(bytes.length + 64L);
    try {
      UNSAFE.setMemory(copy, bytes.length + 64L, (byte) 0);
      Native.put(copy, bytes, bytes.length);
      return compile(copy);
    } finally {
      UNSAFE.freeMemory(copy);
    }
  }

  protected static CudaException notFound(String what, String name) {
    return new CudaException(CudaResult.NOT_FOUND, "there is no " + what + " '" + name + "'");
  }

  // ---- modules

  private void load(long module, CompiledModule compiled) {
    Library made = new Library(compiled, context());
    made.in(made.only());
    putLong(module, handles().add(made));
  }

  @Override
  public int cuModuleLoadData(long module, long image) {
    return call(() -> load(module, compile(image)));
  }

  @Override
  public int cuModuleLoadDataEx(
      long module, long image, int optionCount, long options, long values) {
    return cuModuleLoadData(module, image);
  }

  @Override
  public int cuModuleLoadFatBinary(long module, long image) {
    return cuModuleLoadData(module, image);
  }

  @Override
  public int cuModuleLoad(long module, long fileName) {
    return call(() -> load(module, compileFile(fileName)));
  }

  @Override
  public int cuModuleUnload(long module) {
    return call(
        () -> {
          Library gone = handles().get(module, Library.class);
          context().awaitAll();
          handles().remove(module);
          gone.unload(gone.only() == null ? context() : gone.only());
        });
  }

  @Override
  public int cuModuleGetLoadingMode(long mode) {
    return call(() -> putInt(mode, LAZY));
  }

  private long functionHandle(FunctionRef function) {
    return functionHandles.computeIfAbsent(function, handles()::add);
  }

  private final Map<FunctionRef, Long> functionHandles = new ConcurrentHashMap<>();
  private final Map<Library.Kernel, Long> kernelHandles = new ConcurrentHashMap<>();

  private long kernelHandle(Library.Kernel kernel) {
    return kernelHandles.computeIfAbsent(kernel, handles()::add);
  }

  @Override
  public int cuModuleGetFunction(long function, long module, long name) {
    return call(
        () -> {
          Library library = handles().get(module, Library.class);
          String wanted = Native.text(name);
          if (!library.hasKernel(wanted)) {
            throw notFound("kernel", wanted);
          }
          putLong(function, functionHandle(library.function(wanted, context())));
        });
  }

  @Override
  public int cuModuleGetFunctionCount(long count, long module) {
    return call(
        () -> putInt(count, handles().get(module, Library.class).compiled().kernelNames().size()));
  }

  @Override
  public int cuModuleEnumerateFunctions(long functions, int count, long module) {
    return call(
        () -> {
          Library library = handles().get(module, Library.class);
          List<String> all = List.copyOf(library.compiled().kernelNames());
          for (int i = 0; i < Math.min(count, all.size()); i++) {
            putLong(functions + 8L * i, functionHandle(library.function(all.get(i), context())));
          }
        });
  }

  private void global(long address, long bytes, LoadedModule module, String name) {
    LoadedModule.Global found = module.globals().get(name);
    if (found == null) {
      throw notFound("variable", name);
    }
    if (address != 0) {
      putLong(address, found.address());
    }
    if (bytes != 0) {
      putLong(bytes, found.bytes());
    }
  }

  @Override
  public int cuModuleGetGlobal_v2(long address, long bytes, long module, long name) {
    return call(
        () ->
            global(
                address,
                bytes,
                handles().get(module, Library.class).in(context()),
                Native.text(name)));
  }

  // ---- libraries

  @Override
  public int cuLibraryLoadData(
      long library,
      long code,
      long jitOptions,
      long jitValues,
      int jitCount,
      long options,
      long values,
      int count) {
    return call(() -> putLong(library, handles().add(new Library(compile(code), null))));
  }

  @Override
  public int cuLibraryLoadFromFile(
      long library,
      long fileName,
      long jitOptions,
      long jitValues,
      int jitCount,
      long options,
      long values,
      int count) {
    return call(() -> putLong(library, handles().add(new Library(compileFile(fileName), null))));
  }

  @Override
  public int cuLibraryUnload(long library) {
    return call(
        () -> {
          Library gone = handles().get(library, Library.class);
          handles().remove(library);
          for (Context c : handles().all(Context.class)) {
            c.awaitAll();
            gone.unload(c);
          }
        });
  }

  @Override
  public int cuLibraryGetKernel(long kernel, long library, long name) {
    return call(
        () -> {
          Library found = handles().get(library, Library.class);
          String wanted = Native.text(name);
          if (!found.hasKernel(wanted)) {
            throw notFound("kernel", wanted);
          }
          putLong(kernel, kernelHandle(found.kernel(wanted)));
        });
  }

  /** A library may be used as a module of the current context. */
  @Override
  public int cuLibraryGetModule(long module, long library) {
    return call(
        () -> {
          handles().get(library, Library.class).in(context());
          putLong(module, library);
        });
  }

  /** All of its memory is the host's. */
  @Override
  public int cuLibraryGetManaged(long address, long bytes, long library, long name) {
    return cuLibraryGetGlobal(address, bytes, library, name);
  }

  @Override
  public int cuLibraryGetGlobal(long address, long bytes, long library, long name) {
    return call(
        () ->
            global(
                address,
                bytes,
                handles().get(library, Library.class).in(context()),
                Native.text(name)));
  }

  @Override
  public int cuLibraryGetKernelCount(long count, long library) {
    return cuModuleGetFunctionCount(count, library);
  }

  @Override
  public int cuLibraryEnumerateKernels(long kernels, int count, long library) {
    return call(
        () -> {
          Library found = handles().get(library, Library.class);
          List<String> all = List.copyOf(found.compiled().kernelNames());
          for (int i = 0; i < Math.min(count, all.size()); i++) {
            putLong(kernels + 8L * i, kernelHandle(found.kernel(all.get(i))));
          }
        });
  }

  // ---- kernels and functions; each may stand where the other is asked for

  protected final FunctionRef function(long handle) {
    Library.Kernel kernel = handles().find(handle, Library.Kernel.class);
    return kernel != null
        ? kernel.library().function(kernel.name(), context())
        : handles().get(handle, FunctionRef.class);
  }

  @Override
  public int cuKernelGetFunction(long function, long kernel) {
    return call(() -> putLong(function, functionHandle(function(kernel))));
  }

  @Override
  public int cuKernelGetLibrary(long library, long kernel) {
    return call(
        () ->
            putLong(
                library,
                handles().handleOf(handles().get(kernel, Library.Kernel.class).library())));
  }

  private long nameAddress(String name) {
    return names.computeIfAbsent(
        name,
        n -> {
          byte[] bytes = n.getBytes(java.nio.charset.StandardCharsets.UTF_8);
          long address = UNSAFE.allocateMemory(bytes.length + 1L);
          Native.put(address, bytes, bytes.length);
          UNSAFE.putByte(address + bytes.length, (byte) 0);
          return address;
        });
  }

  @Override
  public int cuKernelGetName(long name, long kernel) {
    return call(() -> putLong(name, nameAddress(kernelName(kernel))));
  }

  @Override
  public int cuFuncGetName(long name, long function) {
    return cuKernelGetName(name, function);
  }

  private String kernelName(long handle) {
    Library.Kernel kernel = handles().find(handle, Library.Kernel.class);
    return kernel != null ? kernel.name() : function(handle).kernel().name();
  }

  private Program program(long handle) {
    Library.Kernel kernel = handles().find(handle, Library.Kernel.class);
    return kernel != null
        ? kernel.library().compiled().program(kernel.name())
        : function(handle).program();
  }

  @Override
  public int cuFuncGetModule(long module, long function) {
    return call(() -> putLong(module, handles().handleOf(function(function).module())));
  }

  @Override
  public int cuFuncGetParamInfo(long function, long index, long offset, long size) {
    return call(
        () -> {
          List<Program.Parameter> all = program(function).parameters();
          require(index >= 0 && index < all.size(), "there is no parameter " + index);
          putLong(offset, all.get((int) index).offset());
          if (size != 0) {
            putLong(size, all.get((int) index).size());
          }
        });
  }

  @Override
  public int cuKernelGetParamInfo(long kernel, long index, long offset, long size) {
    return cuFuncGetParamInfo(kernel, index, offset, size);
  }

  @Override
  public int cuFuncGetAttribute(long value, int attribute, long function) {
    return call(
        () -> {
          int found = function(function).attribute(attribute);
          require(found != -1 || attribute == 9, "there is no function attribute " + attribute);
          putInt(value, found);
        });
  }

  @Override
  public int cuFuncSetAttribute(long function, int attribute, int value) {
    return call(
        () ->
            require(
                function(function).setAttribute(attribute, value),
                "function attribute " + attribute + " cannot be " + value));
  }

  @Override
  public int cuKernelGetAttribute(long value, int attribute, long kernel, int device) {
    return call(
        () -> {
          FunctionRef found = onDevice(kernel, device);
          int attributeValue = found.attribute(attribute);
          require(
              attributeValue != -1 || attribute == 9,
              "there is no function attribute " + attribute);
          putInt(value, attributeValue);
        });
  }

  @Override
  public int cuKernelSetAttribute(int attribute, int value, long kernel, int device) {
    return call(
        () ->
            require(
                onDevice(kernel, device).setAttribute(attribute, value),
                "function attribute " + attribute + " cannot be " + value));
  }

  /** A kernel's function on a device: in the current context or the device's primary one. */
  private FunctionRef onDevice(long handle, int device) {
    Library.Kernel kernel = handles().get(handle, Library.Kernel.class);
    Context current = contextStack().peek();
    Context primary = gpu(device).primary();
    Context context =
        current != null && current.gpu().ordinal() == device
            ? current
            : primary != null ? primary : context();
    return kernel.library().function(kernel.name(), context);
  }

  @Override
  public int cuKernelSetCacheConfig(long kernel, int config, int device) {
    return call(() -> handles().get(kernel, Library.Kernel.class));
  }

  @Override
  public int cuFuncSetCacheConfig(long function, int config) {
    return call(() -> function(function));
  }

  @Override
  public int cuFuncSetSharedMemConfig(long function, int config) {
    return call(() -> function(function));
  }

  @Override
  public int cuFuncIsLoaded(long state, long function) {
    return call(
        () -> {
          function(function);
          putInt(state, 1);
        });
  }

  @Override
  public int cuFuncLoad(long function) {
    return call(() -> function(function).kernel().code());
  }
}
