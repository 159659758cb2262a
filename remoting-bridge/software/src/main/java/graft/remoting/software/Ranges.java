package graft.remoting.software;

import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.software.exec.DeviceFault;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.Gpus;

/** Which ranges of addresses the devices know. */
final class Ranges {
  private final Gpus gpus;
  private final Contexts contexts;

  Ranges(Gpus gpus, Contexts contexts) {
    this.gpus = gpus;
    this.contexts = contexts;
  }

  /** Whether it is memory of any device: a pointer of the unified address space says of which. */
  boolean isDevice(long address, long bytes) {
    return contexts.memory().contains(address, bytes)
        || gpus.all().stream()
            .anyMatch(gpu -> gpu.reserves(address) && gpu.memory().contains(address, bytes));
  }

  /** Whether kernels of some device may access all of a range, its memory or registered host's. */
  private boolean isKnown(long address, long bytes) {
    return gpus.all().stream().anyMatch(gpu -> gpu.memory().contains(address, bytes));
  }

  /**
   * Work on memory that CUDA knows must find it still there: a graph may run it after the memory
   * was unmapped or unregistered, when something else of this process may lie there.
   */
  Runnable onlyWhileKnown(long address, long bytes, Runnable body) {
    if (bytes == 0 || !isKnown(address, bytes)) {
      return body;
    }
    return () -> {
      if (!isKnown(address, bytes)) {
        throw new DeviceFault(
            DeviceFault.ILLEGAL_ADDRESS,
            bytes + " bytes at 0x" + Long.toHexString(address) + " are no longer there");
      }
      body.run();
    };
  }

  /** Whether the address lies in some device's memory, allocated or not. */
  boolean isReserved(long address) {
    return gpus.all().stream().anyMatch(gpu -> gpu.reserves(address));
  }

  void checkDevice(long address, long bytes) {
    require(
        bytes == 0 || isDevice(address, bytes),
        bytes + " bytes at 0x" + Long.toHexString(address) + " are no device memory");
  }

  /** In the unified address space a host pointer is as good as a device pointer. */
  void checkAny(long address, long bytes) {
    require(
        bytes == 0 || address != 0 && (!isReserved(address) || isDevice(address, bytes)),
        bytes + " bytes at 0x" + Long.toHexString(address) + " are outside an allocation");
  }
}
