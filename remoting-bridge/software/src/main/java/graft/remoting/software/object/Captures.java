package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The active captures, by the graphs that they build. */
public final class Captures {
  private final Map<Graph, Capture> captures = new ConcurrentHashMap<>();

  /** Begins a capture in a stream. */
  public void begin(Stream origin) {
    Capture capture = new Capture(new Graph(), origin);
    captures.put(capture.graph(), capture);
    origin.setCapture(capture);
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
