package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.DataConnections;
import graft.remoting.server.connection.Destination;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.memory.KeptContents;
import graft.remoting.server.session.state.PinnedPool;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.session.state.Staging;
import graft.remoting.server.system.Scratch;
import java.util.Arrays;

/** The calls that copy between the client and the device. */
public final class CopyCalls implements SessionCalls.Copy {
  // CUDA_MEMCPY3D, driver API reference.
  private static final int SRC_TYPE = 32;
  private static final int SRC_HOST = 40;
  private static final int SRC_ARRAY = 56;
  private static final int DST_TYPE = 120;
  private static final int DST_HOST = 128;
  private static final int DST_ARRAY = 144;
  private static final int WIDTH = 176;
  private static final int HEIGHT = 184;
  private static final int DEPTH = 192;
  private static final int TYPE_HOST = 1;

  /** The most bytes of hints that a client may ask for. */
  private static final long MOST_HINTS = 64 << 10;

  /** This much data in flight keeps the wire busy while earlier data is waited for. */
  private static final long ENOUGH = 4 * DataConnections.CHUNK;

  private final CudaDevice device;
  private final SessionState state;
  private final DirectAccess direct;
  private final KeptData kept;

  public CopyCalls(CudaDevice device, SessionState state, DirectAccess direct, KeptData kept) {
    this.device = device;
    this.state = state;
    this.direct = direct;
    this.kept = kept;
  }

  /**
   * Copies bulk data to the device in the order of a stream: one chunk is received while another is
   * copied. A write whose data comes on data connections is completed by a later call: the next
   * write goes on without waiting for it, any other call waits first.
   */
  @Override
  public int graftWrite(Call call, long destination, long bytes, long stream) {
    if (call.onDataConnections()) {
      return writeOnDataConnections(call, destination, bytes, stream);
    }
    int result = awaitBulk(call);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    KeptData.Copy copy = kept.begin(bytes);
    if (copy == null) {
      return write(destination, bytes, stream, (at, to, length) -> call.readBulk(to, length));
    }
    try {
      return write(
          destination,
          bytes,
          stream,
          (at, to, length) -> {
            call.readBulk(to, length);
            copy.add(at, to, length);
          });
    } finally {
      copy.end();
    }
  }

  /** Fills a buffer with the {@code length} bytes at {@code offset} of a write. */
  private interface Source {
    void fill(long offset, long buffer, long length);
  }

  /** Copies to the device in the order of a stream, through buffers that are filled in turn. */
  private int write(long destination, long bytes, long stream, Source source) {
    int result = CudaResult.SUCCESS;
    Staging staging = state.context().staging(bytes);
    for (long done = 0; done < bytes && result == CudaResult.SUCCESS; ) {
      long chunk = Math.min(bytes - done, staging.bufferSize());
      Staging.Buffer buffer = staging.take(!state.hostFunctions().arePending());
      source.fill(done, buffer.address(), chunk);
      result = device.cuMemcpyHtoDAsync_v2(destination + done, buffer.address(), chunk, stream);
      int recorded = staging.copies(buffer, stream);
      result = result == CudaResult.SUCCESS ? recorded : result;
      done += chunk;
    }
    return result;
  }

  /**
   * Sends the client what data is known, as {@link KeptData#HINT} bytes of each hash and zeros
   * behind, without a reply.
   */
  @Override
  public int graftKnownData(Call call, long bytes, long read) {
    if (bytes <= 0 || bytes > MOST_HINTS) {
      return CudaResult.INVALID_VALUE;
    }
    try (Scratch hints = Scratch.of(Arrays.copyOf(kept.known(), (int) bytes))) {
      state.sendRead(read, hints.address(), bytes);
    }
    return CudaResult.SUCCESS;
  }

  /** Copies data that is known to the device in the order of a stream. */
  @Override
  public int graftWriteKnown(Call call, long destination, long hash, long bytes, long stream) {
    if (hash == 0) {
      return CudaResult.INVALID_VALUE;
    }
    try (KeptContents.Content data = kept.find(hash, bytes)) {
      return data == null
          ? CudaResult.INVALID_VALUE
          : write(
              destination,
              bytes,
              stream,
              (at, to, length) -> Memory.copy(data.address() + at, to, length));
    }
  }

  /**
   * Begins a write on data connections. An error of the copy is returned with a later reply or with
   * this one. Data that is received directly into the device's memory waits for earlier data to the
   * same memory. If too little other data lies between the two to keep the wire busy meanwhile, and
   * a connection can have several chunks in flight, the data goes through buffers instead.
   */
  private int writeOnDataConnections(Call call, long destination, long bytes, long stream) {
    if (!call.hasBulkToSettle()) {
      long behind = call.bulkBehind(destination, bytes);
      boolean stalls = behind >= 0 && behind + bytes <= ENOUGH && call.hasSeveralAtOnce();
      if (!stalls && !kept.keeps(bytes) && direct.isOpen(destination, bytes)) {
        return beginOnDataConnections(call, direct.destination(destination, behind >= 0));
      }
      int result = awaitBulk(call);
      if (result != CudaResult.SUCCESS) {
        return result;
      }
    }
    return beginOnDataConnections(
        call, new StagedWrite(device, state, destination, stream, kept.begin(bytes)));
  }

  private int beginOnDataConnections(Call call, Destination destination) {
    call.beginBulk(destination);
    return call.wantsReply() ? awaitBulk(call) : CudaResult.SUCCESS;
  }

  /** Waits for the bulk data of earlier calls and completes their copies. */
  public int awaitBulk(Call call) {
    call.awaitBulk();
    return direct.settle();
  }

  /** Copies device-to-host for a client that waits. */
  @Override
  public int graftRead(Call call, long source, long bytes, long stream) {
    if (bytes < 0) {
      return CudaResult.INVALID_VALUE;
    }
    if (state.usesDataConnections(bytes) && direct.isOpen(source, bytes)) {
      state.sendOnDataConnections(call.slot(), source, bytes, direct.sender());
      return CudaResult.SUCCESS;
    }
    StagedRead read = new StagedRead(device, state, call.slot(), source, bytes, stream);
    return read.begin();
  }

  /** Copies device-to-host for a client that does not wait. */
  @Override
  public int graftReadAsync(Call call, long source, long bytes, long stream, long identity) {
    return bytes < 0
        ? CudaResult.INVALID_VALUE
        : state.reads().start(state.context(), source, bytes, stream, identity);
  }

  /** Makes a pitched or array copy. A host source is the bulk data, densely packed. */
  @Override
  public int graftCopy3D(
      Call call, long copy, long sourceArray, long targetArray, long bytes, long stream) {
    boolean fromHost = copy != 0 && Memory.getInt(copy + SRC_TYPE) == TYPE_HOST;
    if (copy == 0 || Memory.getInt(copy + DST_TYPE) == TYPE_HOST || fromHost != (bytes > 0)) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(copy + SRC_ARRAY, sourceArray);
    Memory.putLong(copy + DST_ARRAY, targetArray);
    if (!fromHost) {
      return device.cuMemcpy3DAsync_v2(copy, stream);
    }
    if (!holds(copy, bytes)) {
      return CudaResult.INVALID_VALUE;
    }
    PinnedPool pinned = state.context().pinned();
    long data = pinned.take(bytes);
    call.readBulk(data, bytes);
    Memory.putLong(copy + SRC_HOST, data);
    int result = device.cuMemcpy3DAsync_v2(copy, stream);
    if (result != CudaResult.SUCCESS) {
      pinned.give(data, bytes);
      return result;
    }
    state.waiters().awaitWork(state.context(), stream, done -> pinned.give(data, bytes));
    return CudaResult.SUCCESS;
  }

  /** Makes a pitched or array copy to the client, densely packed. */
  @Override
  public int graftCopy3DRead(Call call, long copy, long sourceArray, long bytes, long stream) {
    if (copy == 0
        || Memory.getInt(copy + DST_TYPE) != TYPE_HOST
        || Memory.getInt(copy + SRC_TYPE) == TYPE_HOST
        || !holds(copy, bytes)) {
      return CudaResult.INVALID_VALUE;
    }
    PinnedPool pinned = state.context().pinned();
    long data = pinned.take(bytes);
    Memory.putLong(copy + SRC_ARRAY, sourceArray);
    Memory.putLong(copy + DST_ARRAY, 0);
    Memory.putLong(copy + DST_HOST, data);
    int result = device.cuMemcpy3DAsync_v2(copy, stream);
    if (result != CudaResult.SUCCESS) {
      pinned.give(data, bytes);
      return result;
    }
    int slot = call.slot();
    state
        .waiters()
        .awaitWork(
            state.context(),
            stream,
            done -> {
              if (done == CudaResult.SUCCESS) {
                state.sendData(slot, 0, data, bytes);
              }
              pinned.give(data, bytes);
              state.replies().send(slot, done);
            });
    return Call.DEFERRED;
  }

  /**
   * Returns whether {@code bytes} is the size of the packed host operand. With any other extents
   * the copy would reach beyond the operand.
   */
  private static boolean holds(long copy, long bytes) {
    long width = Memory.getLong(copy + WIDTH);
    long height = Memory.getLong(copy + HEIGHT);
    long depth = Memory.getLong(copy + DEPTH);
    return bytes > 0
        && width > 0
        && height > 0
        && depth > 0
        && bytes % width == 0
        && bytes / width % height == 0
        && bytes / width / height == depth;
  }
}
