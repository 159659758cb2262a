package graft.remoting.software.driver;

import graft.remoting.software.module.CompiledModule;
import graft.remoting.software.module.LoadedModule;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A CUmodule or CUlibrary: a library is loaded in each context when it is first needed there. */
final class Library {
  private final CompiledModule compiled;
  private final Context only;
  private final Map<String, Map<Context, FunctionRef>> functions = new ConcurrentHashMap<>();

  /** A CUkernel. */
  record Kernel(Library library, String name) {}

  private final Map<String, Kernel> kernels = new ConcurrentHashMap<>();

  /**
   * Makes it.
   *
   * @param only the one context of a module, null for a library
   */
  Library(CompiledModule compiled, Context only) {
    this.compiled = compiled;
    this.only = only;
  }

  CompiledModule compiled() {
    return compiled;
  }

  LoadedModule in(Context current) {
    Context context = only != null ? only : current;
    return context
        .modules()
        .computeIfAbsent(this, l -> new LoadedModule(context.gpu().memory(), compiled));
  }

  Kernel kernel(String name) {
    return kernels.computeIfAbsent(name, n -> new Kernel(this, n));
  }

  boolean hasKernel(String name) {
    return compiled.kernelNames().contains(name);
  }

  /** A kernel's function in a context. */
  FunctionRef function(String name, Context current) {
    Context context = only != null ? only : current;
    return functions
        .computeIfAbsent(name, n -> new ConcurrentHashMap<>())
        .computeIfAbsent(
            context,
            c -> new FunctionRef(c, in(c).kernels().get(name), this, compiled.architecture()));
  }

  /** Frees its variables in a context. */
  void unload(Context context) {
    LoadedModule gone = context.modules().remove(this);
    if (gone != null) {
      gone.close();
    }
  }

  Context only() {
    return only;
  }
}
