package graft.remoting.software;

import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.software.exec.DeviceFault;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.Gpu;
import graft.remoting.software.object.Gpus;

/** The ranges of addresses that the devices know. */
final class Ranges {
  private final Gpus gpus;
  private final Contexts contexts;

  Ranges(Gpus gpus, Contexts contexts) {
    this.gpus = gpus;
    this.contexts = contexts;
  }

  /**
   * Returns whether the range is memory of any device: in the unified address space a pointer
   * identifies its device.
   */
  boolean isDevice(long address, long bytes) {
    return contexts.memory().contains(address, bytes)
        || gpus.all().stream()
            .anyMatch(gpu -> gpu.reserves(address) && gpu.memory().contains(address, bytes));
  }

  /** The memory of the device whose address it is; of the current device for other addresses. */
  DeviceMemory memoryOf(long address) {
    return gpus.all().stream()
        .filter(gpu -> gpu.reserves(address))
        .findFirst()
        .map(Gpu::memory)
        .orElseGet(contexts::memory);
  }

  /**
   * Returns whether kernels of some device may access the whole range, which is device memory or
   * registered host memory.
   */
  boolean isKnown(long address, long bytes) {
    return gpus.all().stream().anyMatch(gpu -> gpu.memory().contains(address, bytes));
  }

  /**
   * Wraps work on memory that CUDA knows with a check that the memory still exists. A graph may run
   * the work after the memory was unmapped or unregistered, when other data of this process may be
   * at the same address.
   */
  Runnable onlyWhileKnown(long address, long bytes, Runnable body) {
    return bytes == 0 || !isKnown(address, bytes) ? body : ifKnown(address, bytes, body);
  }

  /** Wraps work with a check that it is on memory that CUDA knows when it runs. */
  Runnable ifKnown(long address, long bytes, Runnable body) {
    return () -> {
      if (!isKnown(address, bytes)) {
        throw new DeviceFault(
            DeviceFault.ILLEGAL_ADDRESS,
            bytes + " bytes at 0x" + Long.toHexString(address) + " are not mapped or registered");
      }
      body.run();
    };
  }

  /** Returns whether the address lies in some device's reservation, allocated or not. */
  boolean isReserved(long address) {
    return gpus.all().stream().anyMatch(gpu -> gpu.reserves(address));
  }

  void checkDevice(long address, long bytes) {
    require(
        bytes == 0 || isDevice(address, bytes),
        bytes + " bytes at 0x" + Long.toHexString(address) + " are not device memory");
  }

  /**
   * Checks a range of device or host memory: in the unified address space both kinds of pointers
   * are allowed.
   */
  void checkAny(long address, long bytes) {
    require(
        bytes == 0 || address != 0 && (!isReserved(address) || isDevice(address, bytes)),
        bytes + " bytes at 0x" + Long.toHexString(address) + " are outside an allocation");
  }
}
