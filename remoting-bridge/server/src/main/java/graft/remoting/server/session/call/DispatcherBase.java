package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.protocol.ProtocolException;

/**
 * The hand-written part of the generated {@link Dispatcher}: a cursor over the record, which checks
 * every step, and the memory for results in the reply. The device gets addresses of the record
 * itself; parameters are not copied.
 */
abstract class DispatcherBase {
  private static final int SCRATCH = 4096;

  final CudaDevice device;
  final HandleTables handles;
  final SessionCalls session;
  final AddressChecks checks;

  /** The length of the block that {@link #block} returned last. */
  long blockBytes;

  private final long scratch = Memory.allocate(SCRATCH);
  private long scratchCursor;
  private Call call;
  private long stream;
  private long cursor;
  private long end;

  DispatcherBase(
      CudaDevice device, HandleTables handles, SessionCalls session, AddressChecks checks) {
    this.device = device;
    this.handles = handles;
    this.session = session;
    this.checks = checks;
  }

  /**
   * Executes one function and returns its CUresult or {@link Call#DEFERRED}. The generator writes
   * this method.
   */
  abstract int execute(int function, Call current);

  /** Executes a record. */
  public final int execute(Call current) {
    call = current;
    cursor = current.parameters();
    end = current.end();
    scratchCursor = scratch;
    stream = 0;
    checks.begin(current);
    return execute(current.function(), current);
  }

  /** Returns the stream that the last call named; 0, the legacy stream, if it named none. */
  public final long stream() {
    return stream;
  }

  /** Returns the next 8 bytes of the request. */
  final long next() {
    if (end - cursor < Long.BYTES) {
      throw new ProtocolException("the record of " + name() + " is too short");
    }
    long value = Memory.getLong(cursor);
    cursor += Long.BYTES;
    return value;
  }

  /** Returns the number of a function in the API's description. */
  public static int number(String function) {
    for (int i = 0; i < Dispatcher.FUNCTIONS; i++) {
      if (Dispatcher.name(i).equals(function)) {
        return i;
      }
    }
    throw new IllegalStateException("driver.api has no function " + function);
  }

  private String name() {
    return Dispatcher.name(call.function());
  }

  /**
   * Returns the address of the next block, 0 for NULL, and sets {@link #blockBytes} to its length.
   */
  final long block() {
    long bytes = next();
    if (bytes < 0 || bytes > end - cursor) {
      throw new ProtocolException(
          name()
              + " has a block of "
              + Long.toUnsignedString(bytes)
              + " bytes, longer than its record");
    }
    blockBytes = bytes;
    if (bytes == 0) {
      return 0;
    }
    long address = cursor;
    cursor += bytes + 7 & ~7L;
    return address;
  }

  /** Returns the address of a string that ends with a zero byte, 0 for NULL. */
  final long text() {
    long address = block();
    if (address != 0 && Memory.getByte(address + blockBytes - 1) != 0) {
      throw new ProtocolException(name() + " has a string that does not end with a zero byte");
    }
    return address;
  }

  /**
   * Returns the bytes of {@code count} elements. More bytes than fit into a record end the session.
   */
  final long times(long count, int size) {
    if (count < 0 || count > Channel.MAX_RECORD / size) {
      throw new ProtocolException(
          name() + " with " + Long.toUnsignedString(count) + " elements of " + size + " bytes");
    }
    return count * size;
  }

  /** Checks that a block is NULL or has the length that its count says. */
  final void expect(String parameter, long bytes, long expected) {
    if (bytes != 0 && bytes != expected) {
      throw new ProtocolException(
          parameter + " of " + name() + " has " + bytes + " bytes instead of " + expected);
    }
  }

  /** Returns the device's handle for an id. An unknown id fails the call. */
  final long handle(HandleKind kind, long id) {
    if (id == 0) {
      if (kind == HandleKind.STREAM) {
        handles.usedStreams().add(0);
      }
      return 0;
    }
    long handle = handles.find(kind, id);
    if (handle == 0) {
      call.fail(unknown(kind));
    } else if (kind == HandleKind.STREAM) {
      handles.uses(id, handle);
      stream = handle;
    }
    return handle;
  }

  /** What the driver answers for an object that is gone with its context, or with its graph. */
  private static int unknown(HandleKind kind) {
    return switch (kind) {
      case EVENT, ARRAY -> CudaResult.CONTEXT_IS_DESTROYED;
      case NODE -> CudaResult.INVALID_VALUE;
      default -> CudaResult.INVALID_HANDLE;
    };
  }

  /** Replaces the ids in a block with the device's handles. */
  final void resolve(HandleKind kind, long address, long bytes) {
    if ((bytes & Long.BYTES - 1) != 0) {
      throw new ProtocolException("a list of handles of " + bytes + " bytes in " + name());
    }
    for (long at = address; at < address + bytes; at += Long.BYTES) {
      Memory.putLong(at, handle(kind, Memory.getLong(at)));
    }
  }

  /** Returns zeroed memory that is valid during this call. */
  final long scratch(int bytes) {
    long address = scratchCursor;
    scratchCursor += bytes + 7 & ~7L;
    if (scratchCursor > scratch + SCRATCH) {
      throw new IllegalStateException(
          "the results of the function do not fit into the scratch memory");
    }
    Memory.fill(address, bytes, (byte) 0);
    return address;
  }

  /** Returns the value that a function wrote to scratch memory. */
  final long peek(long address) {
    return Memory.getLong(address);
  }

  /**
   * Returns zeroed memory for a result in the reply, or 0 if the client does not want that result.
   */
  final long result(boolean wanted, long bytes) {
    return wanted ? call.result(bytes) : 0;
  }

  /** Replaces the handles that a function wrote to the reply with ids. */
  final void intern(HandleKind kind, long address, long count, int result) {
    for (long i = 0; address != 0 && i < count; i++) {
      long at = address + i * Long.BYTES;
      long handle = Memory.getLong(at);
      Memory.putLong(at, result == CudaResult.SUCCESS ? handles.intern(kind, handle) : 0);
    }
  }

  /**
   * Checks that the request ends here, and that the bulk data behind it is what its header
   * announces. A call that names what it may not name ends here, before anything is done.
   *
   * @param bulkBytes the length of the bulk data, 0 for a function without
   */
  final void endOfRequest(long bulkBytes) {
    if (cursor != end) {
      throw new ProtocolException(
          "the record of " + name() + " has " + (end - cursor) + " bytes too many");
    }
    if (call.hasBulk() || call.failure() == CudaResult.SUCCESS) {
      call.bulk(bulkBytes);
    }
    if (call.failure() != CudaResult.SUCCESS) {
      throw new RefusedCallException(call.failure());
    }
  }
}
