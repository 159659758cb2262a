package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.state.SessionContext;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.session.state.Staging;
import java.util.ArrayDeque;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A copy to the client that it waits for: up to four chunks are on the way from the device while
 * those before are sent. The executor does it as long as nothing else is there to do, else a
 * waiter.
 */
public final class StagedRead {
  private static final int CHUNKS = 4;

  /** Smaller ones on connections, so that the first is there sooner. */
  private static final int LANE_PIECES = 8;

  private final CudaDevice device;
  private final SessionState state;
  private final SessionContext context;
  private final Staging staging;
  private final int slot;
  private final long source;
  private final long bytes;
  private final long stream;
  private final ArrayDeque<Staging.Buffer> queued = new ArrayDeque<>();
  private final boolean onDataConnections;
  private final LinkedBlockingQueue<Staging.Buffer> sent = new LinkedBlockingQueue<>();
  private boolean over;
  private long queuedBytes;
  private long sentBytes;

  StagedRead(
      CudaDevice device, SessionState state, int slot, long source, long bytes, long stream) {
    this.device = device;
    this.state = state;
    this.context = state.context();
    this.onDataConnections = state.usesDataConnections(bytes);
    this.staging = onDataConnections ? context.reads() : context.staging(bytes);
    this.slot = slot;
    this.source = source;
    this.bytes = bytes;
    this.stream = stream;
  }

  /** Starts it, and ends it too if that needs no waiting; else the reply comes later. */
  int begin() {
    int result = fill(onDataConnections ? LANE_PIECES : CHUNKS);
    while (result == CudaResult.SUCCESS && sentBytes < bytes) {
      int ready = state.spinUntil(() -> device.cuEventQuery(queued.element().event()));
      if (ready == CudaResult.NOT_READY) {
        state.waiters().submit(context, () -> state.replies().send(slot, finish()));
        return Call.DEFERRED;
      }
      result = ready == CudaResult.SUCCESS ? sendOne() : ready;
    }
    drop();
    return result;
  }

  private int finish() {
    int result = CudaResult.SUCCESS;
    while (result == CudaResult.SUCCESS && sentBytes < bytes) {
      result = state.awaitEvent(queued.element().event());
      if (result == CudaResult.SUCCESS) {
        result = sendOne();
      }
    }
    drop();
    return result;
  }

  private int fill(int chunks) {
    int result = CudaResult.SUCCESS;
    while (result == CudaResult.SUCCESS && queuedBytes < bytes && queued.size() < chunks) {
      result = queue(staging.take(!state.hostFunctions().arePending()));
    }
    return result;
  }

  private int queue(Staging.Buffer buffer) {
    long chunk = Math.min(bytes - queuedBytes, staging.bufferSize());
    int result = device.cuMemcpyDtoHAsync_v2(buffer.address(), source + queuedBytes, chunk, stream);
    if (result == CudaResult.SUCCESS) {
      result = device.cuEventRecord(buffer.event(), stream);
    }
    queued.add(buffer);
    queuedBytes += chunk;
    return result;
  }

  private int sendOne() {
    Staging.Buffer buffer = queued.remove();
    long chunk = Math.min(bytes - sentBytes, staging.bufferSize());
    if (onDataConnections) {
      state.sendOnDataConnections(
          slot, sentBytes, buffer.address(), chunk, bytes, () -> sent(buffer));
      sentBytes += chunk;
      boolean next = queuedBytes < bytes && (queued.isEmpty() || !sent.isEmpty());
      return next ? queue(takeSent()) : CudaResult.SUCCESS;
    }
    state.sendData(slot, sentBytes, buffer.address(), chunk);
    sentBytes += chunk;
    if (queuedBytes < bytes) {
      return queue(buffer);
    }
    staging.give(buffer);
    return CudaResult.SUCCESS;
  }

  /** The connections have sent a buffer: for the next chunk, or for the next read. */
  private synchronized void sent(Staging.Buffer buffer) {
    if (over) {
      staging.give(buffer);
    } else {
      sent.add(buffer);
    }
  }

  /** A buffer that the connections have sent; waits for it, awake for a moment. */
  private Staging.Buffer takeSent() {
    state.spinUntil(() -> sent.isEmpty() ? CudaResult.NOT_READY : CudaResult.SUCCESS);
    try {
      return sent.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("nothing interrupts the threads of a session", e);
    }
  }

  /**
   * After a failure the buffers' copies are over too: the context is, or they were never queued.
   */
  private void drop() {
    for (Staging.Buffer buffer : queued) {
      device.cuEventSynchronize(buffer.event());
      staging.give(buffer);
    }
    queued.clear();
    // What is still being sent comes back by itself: the reply has not to wait for that.
    synchronized (this) {
      over = true;
      sent.forEach(staging::give);
      sent.clear();
    }
  }
}
