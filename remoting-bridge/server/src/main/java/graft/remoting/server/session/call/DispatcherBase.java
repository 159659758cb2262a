package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.protocol.ProtocolException;

/**
 * What the generated {@link Dispatcher} stands on: a cursor over the record, checked at every step,
 * and the results' place in the reply. Addresses into the record go to the device as they are:
 * nothing is copied.
 */
abstract class DispatcherBase {
  private static final int SCRATCH = 4096;

  final CudaDevice device;
  final HandleTables handles;
  final SessionCalls session;
  final AddressChecks checks;

  /** Bytes of the block that {@link #block} returned last. */
  long blockBytes;

  private final long scratch = Memory.allocate(SCRATCH);
  private long scratchCursor;
  private Call call;
  private long cursor;
  private long end;

  DispatcherBase(
      CudaDevice device, HandleTables handles, SessionCalls session, AddressChecks checks) {
    this.device = device;
    this.handles = handles;
    this.session = session;
    this.checks = checks;
  }

  /** Executes one function; its CUresult, or {@link Call#DEFERRED}. Generated. */
  abstract int execute(int function, Call current);

  /** Executes a record. */
  public final int execute(Call current) {
    call = current;
    cursor = current.parameters();
    end = current.end();
    scratchCursor = scratch;
    checks.begin(current);
    return execute(current.function(), current);
  }

  /** The next 8 bytes of the request. */
  final long next() {
    if (end - cursor < Long.BYTES) {
      throw new ProtocolException("the record of " + name() + " is too short");
    }
    long value = Memory.getLong(cursor);
    cursor += Long.BYTES;
    return value;
  }

  /** The number of a function of the API's description. */
  public static int number(String function) {
    for (int i = 0; i < Dispatcher.FUNCTIONS; i++) {
      if (Dispatcher.name(i).equals(function)) {
        return i;
      }
    }
    throw new IllegalStateException("no function " + function);
  }

  private String name() {
    return Dispatcher.name(call.function());
  }

  /** The address of the next block, 0 for NULL; its length is in {@link #blockBytes}. */
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

  /** The address of a text that ends with a zero byte, 0 for NULL. */
  final long text() {
    long address = block();
    if (address != 0 && Memory.getByte(address + blockBytes - 1) != 0) {
      throw new ProtocolException(name() + " has a text without an end");
    }
    return address;
  }

  /**
   * The bytes of {@code count} elements; more than fit into a record are none that a client may ask
   * for.
   */
  final long times(long count, int size) {
    if (count < 0 || count > Channel.MAX_RECORD / size) {
      throw new ProtocolException(
          name() + " with " + Long.toUnsignedString(count) + " elements of " + size + " bytes");
    }
    return count * size;
  }

  /** Checks that a block is NULL or of the length that its count says. */
  final void expect(String parameter, long bytes, long expected) {
    if (bytes != 0 && bytes != expected) {
      throw new ProtocolException(
          parameter + " of " + name() + " has " + bytes + " bytes instead of " + expected);
    }
  }

  /** The device's handle of an id; an id that names nothing makes the call fail. */
  final long handle(HandleKind kind, long id) {
    if (id == 0) {
      if (kind == HandleKind.STREAM) {
        handles.usedStreams().add(0);
      }
      return 0;
    }
    long handle = handles.find(kind, id);
    if (handle == 0) {
      call.fail(CudaResult.INVALID_HANDLE);
    } else if (kind == HandleKind.STREAM) {
      handles.usedStreams().add(handle);
    }
    return handle;
  }

  /** Puts the device's handles in place of the ids in a block. */
  final void resolve(HandleKind kind, long address, long bytes) {
    if ((bytes & Long.BYTES - 1) != 0) {
      throw new ProtocolException("a list of handles of " + bytes + " bytes in " + name());
    }
    for (long at = address; at < address + bytes; at += Long.BYTES) {
      Memory.putLong(at, handle(kind, Memory.getLong(at)));
    }
  }

  /** Zeroed memory for the time of this call. */
  final long scratch(int bytes) {
    long address = scratchCursor;
    scratchCursor += bytes + 7 & ~7L;
    if (scratchCursor > scratch + SCRATCH) {
      throw new IllegalStateException("a function with more results than there is room for");
    }
    Memory.fill(address, bytes, (byte) 0);
    return address;
  }

  /** What a function wrote to scratch memory. */
  final long peek(long address) {
    return Memory.getLong(address);
  }

  /** Zeroed room for a result in the reply, 0 if the client does not want it. */
  final long result(boolean wanted, long bytes) {
    return wanted ? call.result(bytes) : 0;
  }

  /** Puts ids in place of the handles that a function wrote to the reply. */
  final void intern(HandleKind kind, long address, long count, int result) {
    for (long i = 0; address != 0 && i < count; i++) {
      long at = address + i * Long.BYTES;
      long handle = Memory.getLong(at);
      Memory.putLong(at, result == CudaResult.SUCCESS ? handles.intern(kind, handle) : 0);
    }
  }

  /**
   * The request must end here; a call that names what is not there ends here too, unless bulk data
   * follows.
   */
  final void endOfRequest() {
    if (cursor != end) {
      throw new ProtocolException(
          "the record of " + name() + " has " + (end - cursor) + " bytes too many");
    }
    if (call.failure() != CudaResult.SUCCESS && !call.hasBulk()) {
      throw new RefusedCallException(call.failure());
    }
  }
}
