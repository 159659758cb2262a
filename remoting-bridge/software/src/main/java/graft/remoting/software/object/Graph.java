package graft.remoting.software.object;

import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** A CUgraph: nodes and their dependencies. */
public final class Graph {
  private final List<GraphNode> nodes = new ArrayList<>();
  private final List<Conditional.Condition> conditions = new ArrayList<>();
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

  /** The conditions that were made for conditional nodes of this graph. */
  public List<Conditional.Condition> conditions() {
    return conditions;
  }

  /** The graphs within its nodes. */
  private Stream<Graph> parts() {
    return nodes.stream()
        .flatMap(
            n ->
                n.conditional() != null
                    ? n.conditional().bodies().stream()
                    : Stream.ofNullable(n.child()));
  }

  /** The conditions of this graph and of those within its nodes. */
  List<Conditional.Condition> allConditions() {
    return Stream.concat(
            conditions.stream(), parts().flatMap(part -> part.allConditions().stream()))
        .toList();
  }

  /** Whether there is no cycle, no node where it cannot be, and no fill without memory. */
  public boolean isValid() {
    return sorted() != null
        && nodes.stream()
            .allMatch(
                n -> !(n.body() instanceof GraphNode.Fill fill) || fill.isThere().getAsBoolean())
        && nodes.stream().allMatch(n -> n.conditional() == null || n.conditional().isValid());
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
      if (n.conditional() != null) {
        c.setConditional(n.conditional().copy(copy.memory(), made));
      }
      made.put(n, c);
    }
    copy.conditions.addAll(conditions);
    return made;
  }
}
