package graft.remoting.software.object;

import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A CUgraph: nodes and their dependencies. */
public final class Graph {
  private final List<GraphNode> nodes = new ArrayList<>();
  private final GraphMemory memory;

  public Graph() {
    this(new GraphMemory());
  }

  /** Creates a graph that uses another graph's memory. */
  public Graph(GraphMemory memory) {
    this.memory = memory;
  }

  public GraphMemory memory() {
    return memory;
  }

  public List<GraphNode> nodes() {
    return nodes;
  }

  public GraphNode add(GraphNode.Type type, Runnable body, Collection<GraphNode> dependencies) {
    GraphNode node = new GraphNode(this, type, body);
    node.dependencies().addAll(new LinkedHashSet<>(dependencies));
    nodes.add(node);
    return node;
  }

  public void remove(GraphNode node) {
    nodes.remove(node);
    nodes.forEach(n -> n.dependencies().remove(node));
  }

  public List<GraphNode> roots() {
    return nodes.stream().filter(n -> n.dependencies().isEmpty()).toList();
  }

  /**
   * Returns the nodes in an order in which each follows its dependencies; null if there is a cycle.
   */
  public List<GraphNode> sorted() {
    List<GraphNode> order = new ArrayList<>();
    Set<GraphNode> done = new LinkedHashSet<>();
    List<GraphNode> open = new ArrayList<>(nodes);
    while (!open.isEmpty()) {
      List<GraphNode> ready =
          open.stream().filter(n -> done.containsAll(n.dependencies())).toList();
      if (ready.isEmpty()) {
        return null;
      }
      order.addAll(ready);
      done.addAll(ready);
      open.removeAll(ready);
    }
    return order;
  }

  /** Copies the graph, and returns the map from old to new nodes. */
  public Map<GraphNode, GraphNode> copyInto(Graph copy) {
    Map<GraphNode, GraphNode> made = new IdentityHashMap<>();
    List<GraphNode> order = sorted();
    for (GraphNode n : order == null ? nodes : order) {
      List<GraphNode> dependencies = n.dependencies().stream().map(made::get).toList();
      GraphNode c = copy.add(n.type(), n.body(), dependencies);
      c.setChild(n.child());
      c.setAddress(n.address());
      made.put(n, c);
    }
    return made;
  }
}
