package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.device.HandleFiles;
import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.memory.SharedFile;
import graft.remoting.software.memory.VirtualMemory;
import java.util.HashMap;
import java.util.Map;

/**
 * CUDA driver API: what several processes use together. A handle says which file of which process
 * holds it: process, its number there, offset and length, 8 bytes each.
 */
abstract class SharingFunctions extends StreamFunctions implements HandleFiles {
  private static final int HANDLE = 64;
  private static final int POSIX_FILE_DESCRIPTOR = 1;

  private record Place(long process, int file, long offset, long bytes) {}

  /** Another process' memory that is mapped here. */
  private record Opened(Place place, int times) {}

  /** A file by the process that made it and its number there. */
  private record Origin(long process, int file) {}

  private final Map<Long, Opened> opened = new HashMap<>();
  private final Map<Origin, SharedFile> adopted = new HashMap<>();

  SharingFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  private static void write(long handle, Place place) {
    require(handle != 0, "null pointer for a result");
    UNSAFE.setMemory(handle, HANDLE, (byte) 0);
    UNSAFE.putLong(handle, place.process());
    UNSAFE.putLong(handle + 8, place.file());
    UNSAFE.putLong(handle + 16, place.offset());
    UNSAFE.putLong(handle + 24, place.bytes());
  }

  private static Place read(long handle) {
    require(handle != 0, "no handle");
    return new Place(
        UNSAFE.getLong(handle),
        (int) UNSAFE.getLong(handle + 8),
        UNSAFE.getLong(handle + 16),
        UNSAFE.getLong(handle + 24));
  }

  @Override
  public int file(long handle) {
    return read(handle).file();
  }

  @Override
  public void adopt(long handle, int descriptor) {
    Place place = read(handle);
    synchronized (adopted) {
      SharedFile before =
          adopted.put(new Origin(place.process(), place.file()), SharedFile.adopt(descriptor));
      if (before != null) {
        before.close();
      }
    }
  }

  private SharedFile open(Place place) {
    SharedFile file;
    synchronized (adopted) {
      file = adopted.remove(new Origin(place.process(), place.file()));
    }
    if (file == null) {
      file = SharedFile.of(place.process(), place.file());
    }
    require(file != null, "the process that gave the handle has gone");
    return file;
  }

  // ---- memory

  @Override
  public int cuIpcGetMemHandle(long handle, long address) {
    return call(
        () -> {
          DeviceMemory memory = memory();
          DeviceMemory.Allocation found = memory.find(address);
          require(found != null && found.owner() instanceof Context, "no memory of an allocation");
          Gpu gpu = context().gpu();
          handles().all(Context.class).stream()
              .filter(c -> c.gpu() == gpu)
              .forEach(Context::awaitAll); // its pages change places
          SharedFile file = memory.shared();
          if (file == null) {
            throw new CudaException(CudaResult.OUT_OF_MEMORY, "no memory that can be shared");
          }
          write(
              handle,
              new Place(
                  ProcessHandle.current().pid(),
                  file.descriptor(),
                  found.address() - memory.base(),
                  found.bytes()));
        });
  }

  @Override
  public synchronized int cuIpcOpenMemHandle_v2(long result, long handle, int flags) {
    return call(
        () -> {
          Place place = read(handle);
          require(place.process() != ProcessHandle.current().pid(), "this process has it already");
          for (Map.Entry<Long, Opened> known : opened.entrySet()) {
            if (known.getValue().place().equals(place)) {
              known.setValue(new Opened(place, known.getValue().times() + 1));
              putLong(result, known.getKey());
              return;
            }
          }
          try (SharedFile file = open(place)) {
            long address = file.map(place.offset(), place.bytes());
            if (address == 0) {
              throw new CudaException(CudaResult.OUT_OF_MEMORY, "no addresses left");
            }
            memory().addMapping(address, place.bytes(), opened);
            opened.put(address, new Opened(place, 1));
            putLong(result, address);
          }
        });
  }

  @Override
  public synchronized int cuIpcCloseMemHandle(long address) {
    return call(
        () -> {
          Opened found = opened.get(address);
          require(found != null, "not opened");
          if (found.times() > 1) {
            opened.put(address, new Opened(found.place(), found.times() - 1));
            return;
          }
          context().awaitAll(); // no kernel may still use it
          memory().removeMapping(address);
          opened.remove(address);
          SharedFile.unmap(address, found.place().bytes());
        });
  }

  // ---- pools: all are alike here, so that a handle of one is any descriptor, and its memory is
  // shared as other memory is

  @Override
  public int cuMemPoolExportToShareableHandle(long result, long pool, int type, long flags) {
    return call(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR && flags == 0, "handles of type " + type);
          require(!handles().get(pool, Pool.class).isDefault(), "the default pool is not shared");
          SharedFile file = SharedFile.create(Long.BYTES);
          require(file != null, "no descriptor left");
          putInt(result, file.descriptor());
        });
  }

  @Override
  public int cuMemPoolImportFromShareableHandle(long pool, long handle, int type, long flags) {
    return call(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR && flags == 0, "handles of type " + type);
          putLong(pool, handles().add(new Pool(context().gpu().ordinal(), false)));
        });
  }

  @Override
  public int cuMemPoolExportPointer(long handle, long address) {
    return cuIpcGetMemHandle(handle, address);
  }

  @Override
  public int cuMemPoolImportPointer(long result, long pool, long handle) {
    return call(
        () -> {
          handles().get(pool, Pool.class);
          int code = cuIpcOpenMemHandle_v2(result, handle, 0);
          require(code == CudaResult.SUCCESS, "no memory of another process");
        });
  }

  private synchronized boolean isOpened(long address) {
    return opened.containsKey(address);
  }

  @Override
  public int cuMemFreeAsync(long address, long stream) {
    return isOpened(address) ? cuIpcCloseMemHandle(address) : super.cuMemFreeAsync(address, stream);
  }

  @Override
  public int cuMemFree_v2(long address) {
    return isOpened(address) ? cuIpcCloseMemHandle(address) : super.cuMemFree_v2(address);
  }

  // ---- events

  @Override
  public int cuIpcGetEventHandle(long handle, long event) {
    return call(
        () -> {
          Event found = handles().get(event, Event.class);
          if (!found.isForOtherProcesses()) {
            throw new CudaException(CudaResult.INVALID_HANDLE, "not made for other processes");
          }
          if (found.shared() == null) {
            SharedFile file = SharedFile.create(SharedEvent.BYTES);
            require(file != null, "no memory that can be shared");
            found.share(new SharedEvent(file));
          }
          write(
              handle,
              new Place(
                  ProcessHandle.current().pid(),
                  found.shared().file().descriptor(),
                  0,
                  SharedEvent.BYTES));
        });
  }

  @Override
  public int cuIpcOpenEventHandle(long event, long handle) {
    return call(
        () -> {
          Event made = new Event(context(), Event.DISABLE_TIMING | Event.INTERPROCESS);
          made.share(new SharedEvent(open(read(handle))));
          putLong(event, handles().add(made));
        });
  }

  // ---- physical memory

  @Override
  public int cuMemExportToShareableHandle(long result, long handle, int type, long flags) {
    return call(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR && flags == 0, "handles of type " + type);
          putInt(result, virtual().export(handles().get(handle, VirtualMemory.Physical.class)));
        });
  }

  @Override
  public int cuMemImportFromShareableHandle(long handle, long descriptor, int type) {
    return call(
        () -> {
          require(type == POSIX_FILE_DESCRIPTOR, "handles of type " + type);
          VirtualMemory.Physical made = virtual().adopt((int) descriptor);
          require(made != null, "no descriptor of memory, or more than there is");
          putLong(handle, handles().add(made));
        });
  }
}
