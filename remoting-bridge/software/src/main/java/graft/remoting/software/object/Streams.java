package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import java.util.List;

/** Streams by their handles, and how work gets into them. */
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

  /** The stream of a handle; its context must be without an error. */
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

  /** Adds work to a stream, or a node to the graph that the stream captures. */
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

  /** Queues work of a call without a stream that the host does not wait for. */
  public void runLater(GraphNode.Type type, Runnable body) {
    submit(contexts.current().legacy(), type, body);
  }

  /** Does work of a call that returns when it is done. */
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
