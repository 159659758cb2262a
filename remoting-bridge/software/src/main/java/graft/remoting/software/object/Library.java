package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import graft.remoting.software.module.CompiledModule;
import graft.remoting.software.module.LoadedModule;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A CUmodule or CUlibrary. A library is loaded in each context when it is first used there. */
public final class Library {
  private final CompiledModule compiled;
  private final Context only;
  private final Map<String, Map<Context, FunctionRef>> functions = new ConcurrentHashMap<>();

  /** A CUkernel. */
  public record Kernel(Library library, String name) {}

  private final Map<String, Kernel> kernels = new ConcurrentHashMap<>();

  /**
   * Creates the object.
   *
   * @param only the context of a module, null for a library
   */
  public Library(CompiledModule compiled, Context only) {
    this.compiled = compiled;
    this.only = only;
  }

  public CompiledModule compiled() {
    return compiled;
  }

  public LoadedModule in(Context current) {
    Context context = only != null ? only : current;
    return context
        .modules()
        .computeIfAbsent(this, l -> new LoadedModule(context.gpu().memory(), compiled));
  }

  public Kernel kernel(String name) {
    return kernels.computeIfAbsent(name, n -> new Kernel(this, n));
  }

  public boolean hasKernel(String name) {
    return compiled.kernelNames().contains(name);
  }

  /** A kernel's function in a context. */
  public FunctionRef function(String name, Context current) {
    Context context = only != null ? only : current;
    return functions
        .computeIfAbsent(name, n -> new ConcurrentHashMap<>())
        .computeIfAbsent(
            context,
            c -> new FunctionRef(c, in(c).kernels().get(name), this, compiled.architecture()));
  }

  /** Frees its variables in a context. */
  public void unload(Context context) {
    LoadedModule gone = context.modules().remove(this);
    if (gone != null) {
      gone.close();
    }
  }

  public Context only() {
    return only;
  }

  /** Fails the call unless there is a kernel of that name. */
  public void requireKernel(String name) {
    if (!hasKernel(name)) {
      throw notFound("kernel", name);
    }
  }

  /**
   * Writes the address and size of a variable.
   *
   * @param current the context, for a library
   * @param address where the variable's address is written, or 0
   * @param bytes where its size is written, or 0
   */
  public void writeGlobal(String name, Context current, long address, long bytes) {
    LoadedModule.Global found = in(current).globals().get(name);
    if (found == null) {
      throw notFound("variable", name);
    }
    if (address != 0) {
      CallerMemory.putLong(address, found.address());
    }
    if (bytes != 0) {
      CallerMemory.putLong(bytes, found.bytes());
    }
  }

  private static CudaException notFound(String what, String name) {
    return new CudaException(CudaResult.NOT_FOUND, "there is no " + what + " '" + name + "'");
  }
}
