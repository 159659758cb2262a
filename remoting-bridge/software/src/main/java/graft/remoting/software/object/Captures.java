package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The active captures, by the graphs that they build. */
public final class Captures {
  private final Map<Graph, Capture> captures = new ConcurrentHashMap<>();

  /** Begins a capture in a stream, into a graph that no other capture builds. */
  public Capture begin(Stream origin, Graph graph) {
    Capture capture = new Capture(graph, origin);
    if (captures.putIfAbsent(graph, capture) != null) {
      throw new CudaException(CudaResult.INVALID_VALUE, "another capture builds the graph");
    }
    origin.setCapture(capture);
    return capture;
  }

  /** Returns the capture that builds a graph. */
  public Capture of(Graph graph) {
    Capture found = captures.get(graph);
    if (found == null) {
      throw new CudaException(CudaResult.ILLEGAL_STATE, "the event's capture has ended");
    }
    return found;
  }

  /** Ends a capture. */
  public void end(Capture capture) {
    captures.remove(capture.graph());
  }
}
