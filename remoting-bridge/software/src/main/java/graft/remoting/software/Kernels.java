package graft.remoting.software;

import graft.remoting.software.lowering.Program;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.FunctionRef;
import graft.remoting.software.object.Gpus;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Library;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Kernels and functions by their handles. CUDA accepts each in the place of the other. */
final class Kernels {
  private final Gpus gpus;
  private final Handles handles;
  private final Contexts contexts;
  private final Map<FunctionRef, Long> functionHandles = new ConcurrentHashMap<>();
  private final Map<Library.Kernel, Long> kernelHandles = new ConcurrentHashMap<>();

  Kernels(Gpus gpus, Handles handles, Contexts contexts) {
    this.gpus = gpus;
    this.handles = handles;
    this.contexts = contexts;
  }

  long functionHandle(FunctionRef function) {
    return functionHandles.computeIfAbsent(function, handles::add);
  }

  long kernelHandle(Library.Kernel kernel) {
    return kernelHandles.computeIfAbsent(kernel, handles::add);
  }

  FunctionRef function(long handle) {
    Library.Kernel kernel = handles.find(handle, Library.Kernel.class);
    return kernel != null
        ? kernel.library().function(kernel.name(), contexts.current())
        : handles.get(handle, FunctionRef.class);
  }

  String kernelName(long handle) {
    Library.Kernel kernel = handles.find(handle, Library.Kernel.class);
    return kernel != null ? kernel.name() : function(handle).kernel().name();
  }

  Program program(long handle) {
    Library.Kernel kernel = handles.find(handle, Library.Kernel.class);
    return kernel != null
        ? kernel.library().compiled().program(kernel.name())
        : function(handle).program();
  }

  /**
   * Returns a kernel's function on a device: in the current context, or else in the device's
   * primary context.
   */
  FunctionRef onDevice(long handle, int device) {
    Library.Kernel kernel = handles.get(handle, Library.Kernel.class);
    Context current = contexts.stack().peek();
    Context primary = gpus.get(device).primary();
    Context context =
        current != null && current.gpu().ordinal() == device
            ? current
            : primary != null ? primary : contexts.current();
    return kernel.library().function(kernel.name(), context);
  }
}
