package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import java.util.List;

/** Streams by their handles, and the queueing of work. */
public final class Streams {
  /** CU_STREAM_LEGACY. */
  private static final long LEGACY = 1;

  /** CU_STREAM_PER_THREAD. */
  private static final long PER_THREAD = 2;

  private final Handles handles;
  private final Contexts contexts;

  public Streams(Handles handles, Contexts contexts) {
    this.handles = handles;
    this.contexts = contexts;
  }

  /** Returns the stream of a handle; its context must have no error. */
  public Stream get(long handle) {
    if (handle == 0 || handle == LEGACY) {
      return contexts.current().legacy();
    }
    if (handle == PER_THREAD) {
      return contexts.current().perThread();
    }
    Stream stream = handles.get(handle, Stream.class);
    Contexts.checkError(stream.context());
    return stream;
  }

  /** Adds work to a stream, or a node to the graph that the stream is captured into. */
  public Task submit(Stream stream, GraphNode.Type type, Runnable body) {
    Capture capture = stream.capture();
    if (capture == null) {
      return stream.context().submit(stream, body, List.of());
    }
    if (capture.isInvalid()) {
      throw new CudaException(CudaResult.STREAM_CAPTURE_INVALIDATED, "the capture is invalid");
    }
    synchronized (capture.graph()) {
      GraphNode node = capture.graph().add(type, body, capture.frontier());
      node.setHandle(handles.add(node));
      capture.add(node);
    }
    return null;
  }

  /** Queues the work of a call without a stream, for which the host does not wait. */
  public void runLater(GraphNode.Type type, Runnable body) {
    submit(contexts.current().legacy(), type, body);
  }

  /** Does the work of a call that returns when the work has finished. */
  public void runNow(GraphNode.Type type, Runnable body) {
    Stream stream = contexts.current().legacy();
    if (stream.capture() != null) {
      submit(stream, type, body);
      return;
    }
    stream.context().runInOrder(stream, body);
    Contexts.checkError(stream.context());
  }
}
