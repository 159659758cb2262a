package graft.remoting.server.session;

import graft.remoting.device.CudaResult;
import graft.remoting.device.HandleFiles;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.HandleExchange;
import graft.remoting.server.exchange.SharedHandle;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongToIntFunction;

/**
 * The calls by which several sessions of a client share memory and events. The client never sees
 * the driver's handles. A driver's handle names memory of any process of this machine, so that a
 * forged handle could open another client's memory. The client gets a random token instead, padded
 * with zeros to the size of a handle.
 */
final class SharingCalls implements SessionCalls.Sharing {
  private static final int TOKEN = 32;
  private static final int POSIX_FILE_DESCRIPTOR = 1;

  private final AccountedDevice device;
  private final HandleFiles files;
  private final HandleExchange exchange;
  private final SecureRandom random = new SecureRandom();

  /**
   * An object keeps its token when it is exported again: programs recognize shared memory by its
   * handle.
   */
  private final Map<SharedHandle, Bytes> given = new HashMap<>();

  SharingCalls(AccountedDevice device, HandleFiles files, HandleExchange exchange) {
    this.device = device;
    this.files = files;
    this.exchange = exchange;
  }

  @Override
  public int cuIpcGetMemHandle(Call call, long handle, long address) {
    return give(SharedHandle.Kind.MEMORY, device::cuIpcGetMemHandle, handle, address);
  }

  @Override
  public int graftPoolPointerExport(Call call, long handle, long address) {
    return give(SharedHandle.Kind.OF_POOL, device::cuMemPoolExportPointer, handle, address);
  }

  /** The driver's function that exports an object as one of its own handles. */
  private interface Naming {
    int handle(long to, long address);
  }

  private int give(SharedHandle.Kind kind, Naming naming, long handle, long address) {
    try (Scratch scratch = new Scratch(SharedHandle.BYTES + 16)) {
      long size = scratch.address() + SharedHandle.BYTES;
      int result = naming.handle(scratch.address(), address);
      if (result == CudaResult.SUCCESS) {
        result = device.cuMemGetAddressRange_v2(size + 8, size, address);
      }
      return result == CudaResult.SUCCESS
          ? give(kind, Memory.getLong(size), scratch, handle)
          : result;
    }
  }

  @Override
  public int cuIpcGetEventHandle(Call call, long handle, long event) {
    try (Scratch scratch = new Scratch(SharedHandle.BYTES)) {
      int result = device.cuIpcGetEventHandle(scratch.address(), event);
      return result == CudaResult.SUCCESS
          ? give(SharedHandle.Kind.EVENT, 0, scratch, handle)
          : result;
    }
  }

  private int give(SharedHandle.Kind kind, long size, Scratch driver, long handle) {
    SharedHandle shared =
        new SharedHandle(kind, size, Bytes.of(driver.bytes(0, SharedHandle.BYTES)));
    Bytes token = given.get(shared);
    if (token == null) {
      token = newToken();
      if (!exchange.give(token, shared, files.file(driver.address()))) {
        return CudaResult.OUT_OF_MEMORY;
      }
      given.put(shared, token);
    }
    return write(token, handle);
  }

  /** Exports physical memory, for which the driver gives a descriptor. */
  @Override
  public int graftMemoryExport(Call call, long handle, long memory) {
    return giveDescriptor(
        SharedHandle.Kind.PHYSICAL,
        device.physicalBytes(memory),
        to -> device.cuMemExportToShareableHandle(to, memory, POSIX_FILE_DESCRIPTOR, 0),
        handle);
  }

  @Override
  public int graftPoolExport(Call call, long handle, long pool) {
    return giveDescriptor(
        SharedHandle.Kind.POOL,
        0,
        to -> device.cuMemPoolExportToShareableHandle(to, pool, POSIX_FILE_DESCRIPTOR, 0),
        handle);
  }

  private int giveDescriptor(
      SharedHandle.Kind kind, long bytes, LongToIntFunction export, long handle) {
    try (Scratch scratch = new Scratch(8)) {
      Memory.putInt(scratch.address(), -1);
      int result = export.applyAsInt(scratch.address());
      int fd = Memory.getInt(scratch.address());
      if (result != CudaResult.SUCCESS || fd < 0) {
        return result != CudaResult.SUCCESS ? result : CudaResult.NOT_SUPPORTED;
      }
      Bytes token = newToken();
      boolean taken = exchange.give(token, new SharedHandle(kind, bytes, Bytes.NONE), fd);
      Libc.close(fd);
      return taken ? write(token, handle) : CudaResult.OUT_OF_MEMORY;
    }
  }

  private Bytes newToken() {
    byte[] token = new byte[TOKEN];
    random.nextBytes(token);
    return Bytes.of(token);
  }

  private static int write(Bytes token, long handle) {
    if (handle == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.write(handle, token.array(), 0, TOKEN);
    return CudaResult.SUCCESS;
  }

  private HandleExchange.Found find(long handle, SharedHandle.Kind kind) {
    if (handle == 0) {
      return null;
    }
    HandleExchange.Found found = exchange.find(Bytes.of(Scratch.bytesAt(handle, TOKEN)));
    if (found != null && found.handle().kind() != kind) {
      closeDescriptor(found);
      return null;
    }
    return found;
  }

  private void adopt(long handle, HandleExchange.Found found) {
    if (found.fd() >= 0) {
      files.adopt(handle, found.fd());
    }
  }

  private static void closeDescriptor(HandleExchange.Found found) {
    if (found.fd() >= 0) {
      Libc.close(found.fd());
    }
  }

  @Override
  public int graftIpcOpenMemory(Call call, long address, long bytes, long handle, int flags) {
    return open(
        SharedHandle.Kind.MEMORY,
        address,
        bytes,
        handle,
        (driver, size) -> device.openShared(address, driver, flags, size));
  }

  @Override
  public int graftPoolPointerImport(Call call, long address, long bytes, long pool, long handle) {
    return open(
        SharedHandle.Kind.OF_POOL,
        address,
        bytes,
        handle,
        (driver, size) -> device.importOfPool(address, pool, driver, size));
  }

  /**
   * The driver's function that opens one of its own handles, which lies in the server's memory, and
   * its size.
   */
  private interface Opening {
    int open(long driver, long size);
  }

  private int open(SharedHandle.Kind kind, long address, long bytes, long handle, Opening opening) {
    HandleExchange.Found found = find(handle, kind);
    if (found == null) {
      return CudaResult.INVALID_VALUE;
    }
    if (address == 0) {
      closeDescriptor(found);
      return CudaResult.INVALID_VALUE;
    }
    if (bytes != 0) {
      Memory.putLong(bytes, found.handle().size());
    }
    try (Scratch driver = Scratch.of(found.handle().handle().array())) {
      adopt(driver.address(), found);
      return opening.open(driver.address(), found.handle().size());
    }
  }

  @Override
  public int graftPoolImport(Call call, long pool, long handle) {
    HandleExchange.Found found = find(handle, SharedHandle.Kind.POOL);
    if (found == null) {
      return CudaResult.INVALID_VALUE;
    }
    try {
      return device.cuMemPoolImportFromShareableHandle(pool, found.fd(), POSIX_FILE_DESCRIPTOR, 0);
    } finally {
      closeDescriptor(found);
    }
  }

  @Override
  public int graftIpcOpenEvent(Call call, long event, long handle) {
    HandleExchange.Found found = find(handle, SharedHandle.Kind.EVENT);
    if (found == null) {
      return CudaResult.INVALID_VALUE;
    }
    try (Scratch driver = Scratch.of(found.handle().handle().array())) {
      adopt(driver.address(), found);
      return device.cuIpcOpenEventHandle(event, driver.address());
    }
  }

  @Override
  public int graftMemoryImport(Call call, long memory, long handle) {
    HandleExchange.Found found = find(handle, SharedHandle.Kind.PHYSICAL);
    if (found == null) {
      return CudaResult.INVALID_VALUE;
    }
    if (memory == 0) {
      closeDescriptor(found);
      return CudaResult.INVALID_VALUE;
    }
    try {
      return device.importShared(memory, found.fd(), POSIX_FILE_DESCRIPTOR, found.handle().size());
    } finally {
      closeDescriptor(found);
    }
  }
}
