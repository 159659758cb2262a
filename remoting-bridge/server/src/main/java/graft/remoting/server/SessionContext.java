package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;

/**
 * What the server keeps for one CUDA context of a session. Events and their memory belong to a
 * context.
 */
final class SessionContext {
  private final long handle;
  private final Staging small;
  private final Staging large;
  private final Staging pieces;
  private final Staging reads;
  private final EventPool events;

  SessionContext(CudaDevice device, long handle) {
    this.handle = handle;
    this.events = new EventPool(device);
    this.small = new Staging(device, 16, Staging.SMALL);
    this.large = new Staging(device, 4, Staging.LARGE);
    this.pieces = new Staging(device, 12, Lanes.PIECE);
    this.reads = new Staging(device, 16, Lanes.PIECE);
  }

  /** The driver's handle; 0 stands for no context, where every call answers INVALID_CONTEXT. */
  long handle() {
    return handle;
  }

  EventPool events() {
    return events;
  }

  /** Where data of that size waits for its copy. */
  Staging staging(long bytes) {
    return bytes <= Staging.SMALL ? small : large;
  }

  /** Where pieces of data from lanes wait for their copies. */
  Staging pieces() {
    return pieces;
  }

  /** Where data waits for lanes to send it. */
  Staging reads() {
    return reads;
  }

  /** Makes it the calling thread's current context. */
  int enter(CudaDevice device) {
    return handle == 0 ? CudaResult.SUCCESS : device.cuCtxSetCurrent(handle);
  }
}
