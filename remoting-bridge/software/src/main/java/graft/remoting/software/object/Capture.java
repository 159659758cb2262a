package graft.remoting.software.object;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A stream capture: operations become nodes of a graph instead of running. */
public final class Capture {
  private static final AtomicLong IDS = new AtomicLong();

  private final Graph graph;
  private final Stream origin;
  private final long id = IDS.incrementAndGet();
  private final Set<GraphNode> frontier = new LinkedHashSet<>();
  private final AtomicBoolean invalid;

  public Capture(Graph graph, Stream origin) {
    this(graph, origin, new AtomicBoolean());
  }

  private Capture(Graph graph, Stream origin, AtomicBoolean invalid) {
    this.graph = graph;
    this.origin = origin;
    this.invalid = invalid;
  }

  /** Returns the same capture as seen by another stream, which joins it by waiting for an event. */
  public Capture join(GraphNode after) {
    Capture joined = new Capture(graph, origin, invalid);
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
    return invalid.get();
  }

  public void invalidate() {
    invalid.set(true);
  }
}
