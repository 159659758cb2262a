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
 * A device-to-host copy that the client waits for, or a copy to another server. Up to four chunks
 * are copied from the device while earlier ones are sent. The executor does this as long as it has
 * nothing else to do; otherwise a waiter takes over.
 */
public final class StagedRead {
  private static final int CHUNKS = 4;

  /**
   * The number of chunks on data connections, where smaller chunks let the first one be sent
   * sooner.
   */
  private static final int CONNECTION_CHUNKS = 8;

  private final CudaDevice device;
  private final SessionState state;
  private final SessionContext context;
  private final Staging staging;
  private final int slot;
  private final long source;
  private final long bytes;
  private final long stream;
  private final ArrayDeque<Staging.Buffer> queued = new ArrayDeque<>();
  private final Sink sink;
  private final boolean apart;
  private final LinkedBlockingQueue<Staging.Buffer> sent = new LinkedBlockingQueue<>();
  private boolean over;
  private long queuedBytes;
  private long sentBytes;

  StagedRead(
      CudaDevice device, SessionState state, int slot, long source, long bytes, long stream) {
    this(
        device,
        state,
        slot,
        source,
        bytes,
        stream,
        state.usesDataConnections(bytes)
            ? (offset, address, length, sent) ->
                state.sendOnDataConnections(slot, offset, address, length, bytes, sent)
            : null,
        false);
  }

  /**
   * Creates a copy to {@code sink}, or if that is null to the session's stream.
   *
   * @param apart whether the executor may not wait for the sink
   */
  StagedRead(
      CudaDevice device,
      SessionState state,
      int slot,
      long source,
      long bytes,
      long stream,
      Sink sink,
      boolean apart) {
    this.device = device;
    this.state = state;
    this.context = state.context();
    this.sink = sink;
    this.apart = apart;
    this.staging = sink != null ? context.reads() : context.staging(bytes);
    this.slot = slot;
    this.source = source;
    this.bytes = bytes;
    this.stream = stream;
  }

  /** Sends parts of the copy in the background. */
  interface Sink {
    /**
     * Sends a part.
     *
     * @param offset the offset of the part in the copy
     * @param sent run when the memory may be reused
     */
    void send(long offset, long address, long bytes, Runnable sent);
  }

  /**
   * Starts the read, and finishes it if that needs no waiting; otherwise the reply is sent later.
   */
  int begin() {
    int result = fill(sink != null ? CONNECTION_CHUNKS : CHUNKS);
    while (result == CudaResult.SUCCESS && sentBytes < bytes) {
      int ready =
          apart
              ? CudaResult.NOT_READY
              : state.spinUntil(() -> device.cuEventQuery(queued.element().event()));
      if (ready == CudaResult.NOT_READY) {
        state
            .waiters()
            .awaitThenRun(
                context, queued.element().event(), () -> state.replies().send(slot, finish()));
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
    if (sink != null) {
      sink.send(sentBytes, buffer.address(), chunk, () -> sent(buffer));
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

  /** Returns a buffer that the data connections have sent, for the next chunk or the next read. */
  private synchronized void sent(Staging.Buffer buffer) {
    if (over) {
      staging.give(buffer);
    } else {
      sent.add(buffer);
    }
  }

  /** Returns a buffer that the data connections have sent; polls for a moment and then waits. */
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
   * Returns the buffers after a failure, when their copies are no longer running: either the
   * context has failed, or the copies were never queued.
   */
  private void drop() {
    for (Staging.Buffer buffer : queued) {
      device.cuEventSynchronize(buffer.event());
      staging.give(buffer);
    }
    queued.clear();
    // The buffers that are still being sent are returned by the connections; the reply does not
    // wait for them.
    synchronized (this) {
      over = true;
      sent.forEach(staging::give);
      sent.clear();
    }
  }
}
