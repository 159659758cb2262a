package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.DataConnection;
import graft.remoting.server.connection.DataConnections;
import graft.remoting.server.session.memory.HostMemory;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * What the server keeps for one CUDA context of a session, since events and pinned memory belong to
 * a context.
 */
public final class SessionContext {
  /**
   * The largest number of chunks that wait for their copies, over all data connections and on each
   * of them.
   */
  private static final int CHUNKS = 24;

  private static final int LEAST_CHUNKS = 4;

  private final CudaDevice device;
  private final long handle;
  private final Staging small;
  private final Staging large;
  private final Staging[] chunks = new Staging[DataConnections.MOST];
  private final Staging reads;

  /** The buffers for copies from other servers, by the number of their link. */
  private final Map<Integer, Staging> links = new ConcurrentHashMap<>();

  private final EventPool events;
  private final PinnedPool pinned;
  private final HostMemory memory;

  SessionContext(CudaDevice device, HostMemory memory, long handle) {
    this.device = device;
    this.memory = memory;
    this.handle = handle;
    this.events = new EventPool(device);
    this.pinned = new PinnedPool(device, memory);
    this.small = new Staging(device, memory, 16, Staging.SMALL);
    this.large = new Staging(device, memory, 4, Staging.LARGE);
    this.reads = new Staging(device, memory, 16, DataConnections.CHUNK);
  }

  /**
   * Returns the driver's handle. 0 stands for no context; every call then returns
   * CUDA_ERROR_INVALID_CONTEXT.
   */
  public long handle() {
    return handle;
  }

  /** Returns memory for copies that must be queued as a whole. */
  public PinnedPool pinned() {
    return pinned;
  }

  /**
   * Frees the pinned memory of the context, which must be current. Only the executor calls this,
   * while no data is received.
   */
  void close() {
    List.of(small, large, reads).forEach(Staging::close);
    links.values().forEach(Staging::close);
    Stream.of(chunks).filter(Objects::nonNull).forEach(Staging::close);
    pinned.close();
  }

  public EventPool events() {
    return events;
  }

  /** Returns the buffers for data of that size that comes on the session's stream. */
  public Staging staging(long bytes) {
    return bytes <= Staging.SMALL ? small : large;
  }

  /**
   * Returns the buffers of a data connection, for its thread alone. Each connection has its own,
   * because they stay in the cache of the processor that its thread runs on.
   */
  public Staging chunks(DataConnection connection) {
    Staging its = chunks[connection.number()];
    if (its == null) {
      its =
          new Staging(
              device,
              memory,
              Math.max(LEAST_CHUNKS, CHUNKS / connection.count()),
              DataConnections.CHUNK);
      chunks[connection.number()] = its;
    }
    return its;
  }

  /**
   * Returns whether chunks from data connections are being copied to the device. Only the executor
   * calls this.
   */
  public boolean isCopyingChunks() {
    for (Staging connection : chunks) {
      if (connection != null && connection.isCopying()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the buffers whose copies have finished to the data connections. Only the executor calls
   * this.
   */
  public void recycleChunks() {
    for (Staging connection : chunks) {
      if (connection != null) {
        connection.recycle();
      }
    }
  }

  /** Returns the buffers for copies that come from another server over a link. */
  public Staging link(int number) {
    return links.computeIfAbsent(
        number, key -> new Staging(device, memory, CHUNKS, DataConnections.CHUNK));
  }

  /** Returns the buffers for data that data connections send. */
  public Staging reads() {
    return reads;
  }

  /** Makes the context current to the calling thread. */
  public int enter(CudaDevice device) {
    return handle == 0 ? CudaResult.SUCCESS : device.cuCtxSetCurrent(handle);
  }
}
