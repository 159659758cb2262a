package graft.remoting.software;

import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.device.SharingApi;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.memory.SharedFile;
import graft.remoting.software.memory.VirtualMemory;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Event;
import graft.remoting.software.object.Gpu;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.OpenedMemory;
import graft.remoting.software.object.Pool;
import graft.remoting.software.object.SharedEvent;

/**
 * CUDA driver API: sharing between processes. All pools of this device are alike, so that any
 * descriptor serves as the handle of a pool, and a pool's memory is shared like other memory.
 */
final class SharingFunctions implements SharingApi {
  private static final int POSIX_FILE_DESCRIPTOR = 1;

  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;
  private final OpenedMemory openedMemory;

  SharingFunctions(Calls calls, Handles handles, Contexts contexts, OpenedMemory openedMemory) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
    this.openedMemory = openedMemory;
  }

  @Override
  public int cuIpcGetMemHandle(long handle, long address) {
    return export(handle, address, Context.class);
  }

  /** Writes the handle of memory that is a context's, or as a pool's the GPU's. */
  private int export(long handle, long address, Class<?> owner) {
    return calls.run(
        () -> {
          DeviceMemory memory = contexts.memory();
          DeviceMemory.Allocation found = memory.find(address);
          require(found != null && owner.isInstance(found.owner()), "no such memory");
          Gpu gpu = contexts.current().gpu();
          handles.all(Context.class).stream()
              .filter(c -> c.gpu() == gpu)
              .forEach(Context::awaitAll); // the pages of the memory are replaced
          SharedFile file = memory.shared();
          if (file == null) {
            throw new CudaException(CudaResult.OUT_OF_MEMORY, "no memory that can be shared");
          }
          OpenedMemory.write(
              handle,
              new OpenedMemory.Place(
                  ProcessHandle.current().pid(),
                  file.descriptor(),
                  found.address() - memory.base(),
                  found.bytes()));
        });
  }

  @Override
  public int cuMemPoolExportToShareableHandle(long result, long pool, int type, long flags) {
    return calls.run(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR && flags == 0, "handles of type " + type);
          require(!handles.get(pool, Pool.class).isDefault(), "the default pool is not shared");
          SharedFile file = SharedFile.create(Long.BYTES);
          require(file != null, "no descriptor left");
          putInt(result, file.descriptor());
        });
  }

  @Override
  public int cuMemPoolImportFromShareableHandle(long pool, long handle, int type, long flags) {
    return calls.run(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR && flags == 0, "handles of type " + type);
          putLong(pool, handles.add(new Pool(contexts.current().gpu().ordinal(), false)));
        });
  }

  @Override
  public int cuMemPoolExportPointer(long handle, long address) {
    return export(handle, address, Gpu.class);
  }

  @Override
  public int cuIpcGetEventHandle(long handle, long event) {
    return calls.run(
        () -> {
          Event found = handles.get(event, Event.class);
          if (!found.isForOtherProcesses()) {
            throw new CudaException(CudaResult.INVALID_HANDLE, "not made for other processes");
          }
          if (found.shared() == null) {
            SharedFile file = SharedFile.create(SharedEvent.BYTES);
            require(file != null, "no memory that can be shared");
            found.share(new SharedEvent(file));
          }
          OpenedMemory.write(
              handle,
              new OpenedMemory.Place(
                  ProcessHandle.current().pid(),
                  found.shared().file().descriptor(),
                  0,
                  SharedEvent.BYTES));
        });
  }

  @Override
  public int cuIpcOpenEventHandle(long event, long handle) {
    return calls.run(
        () -> {
          Event made = new Event(contexts.current(), Event.DISABLE_TIMING | Event.INTERPROCESS);
          made.share(new SharedEvent(openedMemory.file(OpenedMemory.read(handle))));
          putLong(event, handles.add(made));
        });
  }

  @Override
  public int cuMemExportToShareableHandle(long result, long handle, int type, long flags) {
    return calls.run(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR && flags == 0, "handles of type " + type);
          putInt(
              result,
              contexts
                  .memoryOfAny()
                  .virtual()
                  .export(handles.get(handle, VirtualMemory.Physical.class)));
        });
  }

  @Override
  public int cuMemImportFromShareableHandle(long handle, long descriptor, int type) {
    return calls.run(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR, "handles of type " + type);
          VirtualMemory.Physical made = contexts.memory().virtual().adopt((int) descriptor);
          require(made != null, "not a descriptor of memory, or the memory is smaller");
          putLong(handle, handles.add(made));
        });
  }

  @Override
  public int cuIpcOpenMemHandle_v2(long result, long handle, int flags) {
    return calls.run(() -> putLong(result, openedMemory.open(handle)));
  }

  @Override
  public int cuIpcCloseMemHandle(long address) {
    return calls.run(() -> openedMemory.close(address));
  }

  @Override
  public int cuMemPoolImportPointer(long result, long pool, long handle) {
    return calls.run(
        () -> {
          handles.get(pool, Pool.class);
          putLong(result, openedMemory.open(handle));
        });
  }
}
