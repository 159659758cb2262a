package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.DataConnection;
import graft.remoting.server.connection.DataConnections;

/**
 * What the server keeps for one CUDA context of a session. Events and their memory belong to a
 * context.
 */
public final class SessionContext {
  /** SharedChunks that wait for their copies, on all connections together and on one. */
  private static final int CHUNKS = 24;

  private static final int LEAST_CHUNKS = 4;

  private final CudaDevice device;
  private final long handle;
  private final Staging small;
  private final Staging large;
  private final Staging[] chunks = new Staging[DataConnections.MOST];
  private final Staging reads;
  private final EventPool events;

  SessionContext(CudaDevice device, long handle) {
    this.device = device;
    this.handle = handle;
    this.events = new EventPool(device);
    this.small = new Staging(device, 16, Staging.SMALL);
    this.large = new Staging(device, 4, Staging.LARGE);
    this.reads = new Staging(device, 16, DataConnections.CHUNK);
  }

  /** The driver's handle; 0 stands for no context, where every call answers INVALID_CONTEXT. */
  public long handle() {
    return handle;
  }

  public EventPool events() {
    return events;
  }

  /** Where data of that size waits for its copy. */
  public Staging staging(long bytes) {
    return bytes <= Staging.SMALL ? small : large;
  }

  /**
   * Where chunks of data from a connection wait for their copies: each has buffers of its own,
   * which its thread's processor still has in its cache. For that thread.
   */
  public Staging chunks(DataConnection connection) {
    Staging its = chunks[connection.number()];
    if (its == null) {
      its =
          new Staging(
              device, Math.max(LEAST_CHUNKS, CHUNKS / connection.count()), DataConnections.CHUNK);
      chunks[connection.number()] = its;
    }
    return its;
  }

  /** Whether chunks from connections are on their way to the device. For the executor. */
  public boolean isCopyingChunks() {
    for (Staging connection : chunks) {
      if (connection != null && connection.isCopying()) {
        return true;
      }
    }
    return false;
  }

  /** Gives the connections back the buffers whose copies are over. For the executor. */
  public void recycleChunks() {
    for (Staging connection : chunks) {
      if (connection != null) {
        connection.recycle();
      }
    }
  }

  /** Where data waits for connections to send it. */
  public Staging reads() {
    return reads;
  }

  /** Makes it the calling thread's current context. */
  public int enter(CudaDevice device) {
    return handle == 0 ? CudaResult.SUCCESS : device.cuCtxSetCurrent(handle);
  }
}
