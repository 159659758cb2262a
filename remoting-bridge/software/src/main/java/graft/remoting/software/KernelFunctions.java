package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.FunctionApi;
import graft.remoting.software.lowering.Program;
import graft.remoting.software.memory.Native;
import graft.remoting.software.object.FunctionRef;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Library;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** CUDA driver API: kernels of "Library Management", functions of "Execution Control". */
final class KernelFunctions implements FunctionApi {
  private final Calls calls;
  private final Handles handles;
  private final Kernels kernels;

  /** Zero-terminated names owned by the driver, by their text. */
  private final Map<String, Long> names = new ConcurrentHashMap<>();

  KernelFunctions(Calls calls, Handles handles, Kernels kernels) {
    this.calls = calls;
    this.handles = handles;
    this.kernels = kernels;
  }

  @Override
  public int cuKernelGetFunction(long function, long kernel) {
    return calls.run(() -> putLong(function, kernels.functionHandle(kernels.function(kernel))));
  }

  @Override
  public int cuKernelGetLibrary(long library, long kernel) {
    return calls.run(
        () ->
            putLong(
                library, handles.handleOf(handles.get(kernel, Library.Kernel.class).library())));
  }

  private long nameAddress(String name) {
    return names.computeIfAbsent(
        name,
        n -> {
          byte[] bytes = n.getBytes(StandardCharsets.UTF_8);
          long address = UNSAFE.allocateMemory(bytes.length + 1L);
          Native.put(address, bytes, bytes.length);
          UNSAFE.putByte(address + bytes.length, (byte) 0);
          return address;
        });
  }

  @Override
  public int cuKernelGetName(long name, long kernel) {
    return calls.run(() -> putLong(name, nameAddress(kernels.kernelName(kernel))));
  }

  @Override
  public int cuFuncGetName(long name, long function) {
    return cuKernelGetName(name, function);
  }

  @Override
  public int cuFuncGetModule(long module, long function) {
    return calls.run(() -> putLong(module, handles.handleOf(kernels.function(function).module())));
  }

  @Override
  public int cuFuncGetParamInfo(long function, long index, long offset, long size) {
    return calls.run(
        () -> {
          List<Program.Parameter> all = kernels.program(function).parameters();
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
    return calls.run(
        () -> {
          int found = kernels.function(function).attribute(attribute);
          require(found != -1 || attribute == 9, "there is no function attribute " + attribute);
          putInt(value, found);
        });
  }

  @Override
  public int cuFuncSetAttribute(long function, int attribute, int value) {
    return calls.run(
        () ->
            require(
                kernels.function(function).setAttribute(attribute, value),
                "function attribute " + attribute + " cannot be " + value));
  }

  @Override
  public int cuKernelGetAttribute(long value, int attribute, long kernel, int device) {
    return calls.run(
        () -> {
          FunctionRef found = kernels.onDevice(kernel, device);
          int attributeValue = found.attribute(attribute);
          require(
              attributeValue != -1 || attribute == 9,
              "there is no function attribute " + attribute);
          putInt(value, attributeValue);
        });
  }

  @Override
  public int cuKernelSetAttribute(int attribute, int value, long kernel, int device) {
    return calls.run(
        () ->
            require(
                kernels.onDevice(kernel, device).setAttribute(attribute, value),
                "function attribute " + attribute + " cannot be " + value));
  }

  @Override
  public int cuKernelSetCacheConfig(long kernel, int config, int device) {
    return calls.run(() -> handles.get(kernel, Library.Kernel.class));
  }

  @Override
  public int cuFuncSetCacheConfig(long function, int config) {
    return calls.run(() -> kernels.function(function));
  }

  @Override
  public int cuFuncSetSharedMemConfig(long function, int config) {
    return calls.run(() -> kernels.function(function));
  }

  @Override
  public int cuFuncIsLoaded(long state, long function) {
    return calls.run(
        () -> {
          kernels.function(function);
          putInt(state, 1);
        });
  }

  @Override
  public int cuFuncLoad(long function) {
    return calls.run(() -> kernels.function(function).kernel().code());
  }
}
