package graft.remoting.software.driver;

import java.util.LinkedHashSet;
import java.util.Set;

/** A stream capture: operations become nodes of a graph instead of running. */
final class Capture {
  private static final java.util.concurrent.atomic.AtomicLong IDS =
      new java.util.concurrent.atomic.AtomicLong();

  private final Graph graph;
  private final Stream origin;
  private final long id = IDS.incrementAndGet();
  private final Set<GraphNode> frontier = new LinkedHashSet<>();
  private boolean invalid;

  Capture(Graph graph, Stream origin) {
    this.graph = graph;
    this.origin = origin;
  }

  /** The same capture as seen by another stream that joins it after an event. */
  Capture join(GraphNode after) {
    Capture joined = new Capture(graph, origin);
    joined.frontier.add(after);
    return joined;
  }

  Graph graph() {
    return graph;
  }

  Stream origin() {
    return origin;
  }

  long id() {
    return id;
  }

  /** The nodes that the next operation depends on. */
  Set<GraphNode> frontier() {
    return frontier;
  }

  void add(GraphNode node) {
    frontier.clear();
    frontier.add(node);
  }

  boolean isInvalid() {
    return invalid;
  }

  void invalidate() {
    invalid = true;
  }
}
