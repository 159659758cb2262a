package graft.remoting.software.object;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.device.HandleFiles;
import graft.remoting.software.memory.SharedFile;
import java.util.HashMap;
import java.util.Map;

/**
 * Memory of other processes that is mapped in this one. A handle names the file of a process that
 * holds the memory: process, descriptor in that process, offset and length, 8 bytes each.
 */
public final class OpenedMemory implements HandleFiles {
  private static final int HANDLE = 64;

  /** The contents of a handle. */
  public record Place(long process, int file, long offset, long bytes) {}

  private record Opened(Place place, int times) {}

  /** A file by the process that created it and the descriptor in that process. */
  private record Origin(long process, int file) {}

  private final Contexts contexts;
  private final Map<Long, Opened> opened = new HashMap<>();
  private final Map<Origin, SharedFile> adopted = new HashMap<>();

  public OpenedMemory(Contexts contexts) {
    this.contexts = contexts;
  }

  public static void write(long handle, Place place) {
    require(handle != 0, "null pointer for a result");
    UNSAFE.setMemory(handle, HANDLE, (byte) 0);
    UNSAFE.putLong(handle, place.process());
    UNSAFE.putLong(handle + 8, place.file());
    UNSAFE.putLong(handle + 16, place.offset());
    UNSAFE.putLong(handle + 24, place.bytes());
  }

  public static Place read(long handle) {
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

  public SharedFile file(Place place) {
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

  /** Maps the memory of a handle, unless it is mapped already. */
  public synchronized long open(long handle) {
    Place place = read(handle);
    require(place.process() != ProcessHandle.current().pid(), "this process has it already");
    for (Map.Entry<Long, Opened> known : opened.entrySet()) {
      if (known.getValue().place().equals(place)) {
        known.setValue(new Opened(place, known.getValue().times() + 1));
        return known.getKey();
      }
    }
    try (SharedFile file = file(place)) {
      long address = file.map(place.offset(), place.bytes());
      if (address == 0) {
        throw new CudaException(CudaResult.OUT_OF_MEMORY, "no addresses left");
      }
      contexts.memory().addMapping(address, place.bytes(), opened);
      opened.put(address, new Opened(place, 1));
      return address;
    }
  }

  public synchronized boolean isOpened(long address) {
    return opened.containsKey(address);
  }

  /** Ends one {@link #open}; the last one of a mapping unmaps it. */
  public synchronized void close(long address) {
    Opened found = opened.get(address);
    require(found != null, "not opened");
    if (found.times() > 1) {
      opened.put(address, new Opened(found.place(), found.times() - 1));
      return;
    }
    contexts.current().awaitAll(); // no kernel may still use it
    contexts.memory().removeMapping(address);
    opened.remove(address);
    SharedFile.unmap(address, found.place().bytes());
  }
}
