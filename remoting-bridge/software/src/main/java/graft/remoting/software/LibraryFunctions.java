package graft.remoting.software;

import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;

import graft.remoting.device.LibraryApi;
import graft.remoting.software.memory.Native;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Library;
import java.util.List;

/** CUDA driver API: "Library Management". */
final class LibraryFunctions implements LibraryApi {
  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;
  private final Images images;
  private final Kernels kernels;

  LibraryFunctions(
      Calls calls, Handles handles, Contexts contexts, Images images, Kernels kernels) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
    this.images = images;
    this.kernels = kernels;
  }

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
    return calls.run(() -> putLong(library, handles.add(new Library(images.compile(code), null))));
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
    return calls.run(
        () -> putLong(library, handles.add(new Library(images.compileFile(fileName), null))));
  }

  @Override
  public int cuLibraryUnload(long library) {
    return calls.run(
        () -> {
          Library gone = handles.get(library, Library.class);
          handles.remove(library);
          for (Context c : handles.all(Context.class)) {
            c.awaitAll();
            gone.unload(c);
          }
        });
  }

  @Override
  public int cuLibraryGetKernel(long kernel, long library, long name) {
    return calls.run(
        () -> {
          Library found = handles.get(library, Library.class);
          String wanted = Native.text(name);
          found.requireKernel(wanted);
          putLong(kernel, kernels.kernelHandle(found.kernel(wanted)));
        });
  }

  /** A library may be used as a module of the current context. */
  @Override
  public int cuLibraryGetModule(long module, long library) {
    return calls.run(
        () -> {
          handles.get(library, Library.class).in(contexts.current());
          putLong(module, library);
        });
  }

  /** On this device all managed memory is host memory. */
  @Override
  public int cuLibraryGetManaged(long address, long bytes, long library, long name) {
    return cuLibraryGetGlobal(address, bytes, library, name);
  }

  @Override
  public int cuLibraryGetGlobal(long address, long bytes, long library, long name) {
    return calls.run(
        () ->
            handles
                .get(library, Library.class)
                .writeGlobal(Native.text(name), contexts.current(), address, bytes));
  }

  @Override
  public int cuLibraryGetKernelCount(long count, long library) {
    return calls.run(
        () -> putInt(count, handles.get(library, Library.class).compiled().kernelNames().size()));
  }

  @Override
  public int cuLibraryEnumerateKernels(long array, int count, long library) {
    return calls.run(
        () -> {
          Library found = handles.get(library, Library.class);
          List<String> all = List.copyOf(found.compiled().kernelNames());
          for (int i = 0; i < Math.min(count, all.size()); i++) {
            putLong(array + 8L * i, kernels.kernelHandle(found.kernel(all.get(i))));
          }
        });
  }
}
