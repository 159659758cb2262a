package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.Lane;
import graft.remoting.server.connection.Lanes;

/**
 * What the server keeps for one CUDA context of a session. Events and their memory belong to a
 * context.
 */
public final class SessionContext {
  /** Pieces that wait for their copies, on all lanes together and on one. */
  private static final int PIECES = 24;

  private static final int LEAST_PIECES = 4;

  private final CudaDevice device;
  private final long handle;
  private final Staging small;
  private final Staging large;
  private final Staging[] pieces = new Staging[Lanes.MOST];
  private final Staging reads;
  private final EventPool events;

  SessionContext(CudaDevice device, long handle) {
    this.device = device;
    this.handle = handle;
    this.events = new EventPool(device);
    this.small = new Staging(device, 16, Staging.SMALL);
    this.large = new Staging(device, 4, Staging.LARGE);
    this.reads = new Staging(device, 16, Lanes.PIECE);
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
   * Where pieces of data from a lane wait for their copies: each has buffers of its own, which its
   * thread's processor still has in its cache. For that thread.
   */
  public Staging pieces(Lane lane) {
    Staging its = pieces[lane.number()];
    if (its == null) {
      its = new Staging(device, Math.max(LEAST_PIECES, PIECES / lane.count()), Lanes.PIECE);
      pieces[lane.number()] = its;
    }
    return its;
  }

  /** Whether pieces from lanes are on their way to the device. For the executor. */
  public boolean isCopyingPieces() {
    for (Staging lane : pieces) {
      if (lane != null && lane.isCopying()) {
        return true;
      }
    }
    return false;
  }

  /** Gives the lanes back the buffers whose copies are over. For the executor. */
  public void recyclePieces() {
    for (Staging lane : pieces) {
      if (lane != null) {
        lane.recycle();
      }
    }
  }

  /** Where data waits for lanes to send it. */
  public Staging reads() {
    return reads;
  }

  /** Makes it the calling thread's current context. */
  public int enter(CudaDevice device) {
    return handle == 0 ? CudaResult.SUCCESS : device.cuCtxSetCurrent(handle);
  }
}
