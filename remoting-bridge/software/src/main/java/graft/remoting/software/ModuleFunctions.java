package graft.remoting.software;

import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;

import graft.remoting.device.ModuleApi;
import graft.remoting.software.memory.Native;
import graft.remoting.software.module.CompiledModule;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Library;
import java.util.List;

/** CUDA driver API: "Module Management". */
final class ModuleFunctions implements ModuleApi {
  /** CU_MODULE_LAZY_LOADING. */
  private static final int LAZY = 2;

  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;
  private final Images images;
  private final Kernels kernels;

  ModuleFunctions(Calls calls, Handles handles, Contexts contexts, Images images, Kernels kernels) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
    this.images = images;
    this.kernels = kernels;
  }

  private void load(long module, CompiledModule compiled) {
    Library made = new Library(compiled, contexts.current());
    made.in(made.only());
    putLong(module, handles.add(made));
  }

  @Override
  public int cuModuleLoadData(long module, long image) {
    return calls.run(() -> load(module, images.compile(image)));
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
    return calls.run(() -> load(module, images.compileFile(fileName)));
  }

  @Override
  public int cuModuleUnload(long module) {
    return calls.run(
        () -> {
          Library gone = handles.get(module, Library.class);
          contexts.current().awaitAll();
          handles.remove(module);
          gone.unload(gone.only() == null ? contexts.current() : gone.only());
        });
  }

  @Override
  public int cuModuleGetLoadingMode(long mode) {
    return calls.run(() -> putInt(mode, LAZY));
  }

  @Override
  public int cuModuleGetFunction(long function, long module, long name) {
    return calls.run(
        () -> {
          Library library = handles.get(module, Library.class);
          String wanted = Native.text(name);
          library.requireKernel(wanted);
          putLong(function, kernels.functionHandle(library.function(wanted, contexts.current())));
        });
  }

  @Override
  public int cuModuleGetFunctionCount(long count, long module) {
    return calls.run(
        () -> putInt(count, handles.get(module, Library.class).compiled().kernelNames().size()));
  }

  @Override
  public int cuModuleEnumerateFunctions(long functions, int count, long module) {
    return calls.run(
        () -> {
          Library library = handles.get(module, Library.class);
          List<String> all = List.copyOf(library.compiled().kernelNames());
          for (int i = 0; i < Math.min(count, all.size()); i++) {
            putLong(
                functions + 8L * i,
                kernels.functionHandle(library.function(all.get(i), contexts.current())));
          }
        });
  }

  @Override
  public int cuModuleGetGlobal_v2(long address, long bytes, long module, long name) {
    return calls.run(
        () ->
            handles
                .get(module, Library.class)
                .writeGlobal(Native.text(name), contexts.current(), address, bytes));
  }
}
