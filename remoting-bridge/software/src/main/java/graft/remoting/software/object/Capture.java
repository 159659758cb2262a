package graft.remoting.software.object;

import java.util.LinkedHashSet;
import java.util.Set;

/** A stream capture: operations become nodes of a graph instead of running. */
public final class Capture {
  private static final java.util.concurrent.atomic.AtomicLong IDS =
      new java.util.concurrent.atomic.AtomicLong();

  private final Graph graph;
  private final Stream origin;
  private final long id = IDS.incrementAndGet();
  private final Set<GraphNode> frontier = new LinkedHashSet<>();
  private boolean invalid;

  public Capture(Graph graph, Stream origin) {
    this.graph = graph;
    this.origin = origin;
  }

  /** Returns the same capture as seen by another stream, which joins it by waiting for an event. */
  public Capture join(GraphNode after) {
    Capture joined = new Capture(graph, origin);
    joined.frontier.add(after);
    return joined;
  }

  public Graph graph() {
    return graph;
  }

  public Stream origin() {
    return origin;
  }

  public long id() {
    return id;
  }

  /** The nodes that the next operation depends on. */
  public Set<GraphNode> frontier() {
    return frontier;
  }

  public void add(GraphNode node) {
    frontier.clear();
    frontier.add(node);
  }

  public boolean isInvalid() {
    return invalid;
  }

  public void invalidate() {
    invalid = true;
  }
}
