package graft.remoting.software.object;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A CUgraphExec: a copy of a graph from when it was instantiated. */
public final class GraphExec {
  private Graph graph;
  private Map<GraphNode, GraphNode> copies;
  private final Set<GraphNode> disabled = new HashSet<>();
  private final long flags;

  public GraphExec(Graph source, long flags) {
    this.flags = flags;
    replace(source);
  }

  public long flags() {
    return flags;
  }

  public final synchronized void replace(Graph source) {
    GraphMemory shared = source.memory().share();
    release();
    graph = new Graph(shared);
    copies = new IdentityHashMap<>(source.copyInto(graph));
  }

  /** Ends the use of the memory of its graph. */
  public synchronized void release() {
    if (graph != null) {
      graph.memory().release();
    }
  }

  /** Returns whether a graph has the same shape, so that it can replace this one. */
  public synchronized boolean matches(Graph other) {
    return haveSameShape(graph, other);
  }

  private static boolean haveSameShape(Graph one, Graph other) {
    List<GraphNode> mine = one.sorted();
    List<GraphNode> theirs = other.sorted();
    if (theirs == null || theirs.size() != mine.size()) {
      return false;
    }
    for (int i = 0; i < mine.size(); i++) {
      if (mine.get(i).type() != theirs.get(i).type()
          || mine.get(i).dependencies().size() != theirs.get(i).dependencies().size()
          || !haveSameShape(mine.get(i).conditional(), theirs.get(i).conditional())) {
        return false;
      }
    }
    return true;
  }

  private static boolean haveSameShape(Conditional one, Conditional other) {
    if (one == null || other == null) {
      return one == other;
    }
    if (one.kind() != other.kind() || one.bodies().size() != other.bodies().size()) {
      return false;
    }
    for (int i = 0; i < one.bodies().size(); i++) {
      if (!haveSameShape(one.bodies().get(i), other.bodies().get(i))) {
        return false;
      }
    }
    return true;
  }

  /** This graph's copy of a node of its source, or null. */
  public synchronized GraphNode copyOf(GraphNode node) {
    return copies.get(node);
  }

  public synchronized void setEnabled(GraphNode node, boolean enabled) {
    if (enabled) {
      disabled.remove(node);
    } else {
      disabled.add(node);
    }
  }

  public synchronized boolean isEnabled(GraphNode node) {
    return !disabled.contains(node);
  }

  /** Starts all nodes in a stream; later work of the stream runs after they have finished. */
  public synchronized void launch(Stream stream) {
    Context context = stream.context();
    List<Conditional.Condition> conditions = graph.allConditions();
    Task start =
        context.submit(stream, () -> conditions.forEach(Conditional.Condition::assign), List.of());
    List<Task> all = new ArrayList<>();
    all.add(start);
    launchNodes(graph, context, List.of(start), all);
    context.submit(stream, () -> {}, all);
  }

  private List<Task> launchNodes(Graph g, Context context, List<Task> before, List<Task> all) {
    Map<GraphNode, List<Task>> tasks = new IdentityHashMap<>();
    List<Task> own = new ArrayList<>();
    for (GraphNode node : g.sorted()) {
      List<Task> dependencies = new ArrayList<>();
      node.dependencies().forEach(d -> dependencies.addAll(tasks.get(d)));
      if (dependencies.isEmpty()) {
        dependencies.addAll(before);
      }
      List<Task> made;
      if (disabled.contains(node)) {
        made = List.of(context.detached(() -> {}, dependencies));
      } else if (node.child() != null) {
        List<Task> inner = launchNodes(node.child(), context, dependencies, all);
        made = inner.isEmpty() ? dependencies : inner;
      } else if (node.conditional() != null) {
        Runnable work = node.conditional().work(Set.copyOf(disabled));
        made = List.of(context.detached(work, dependencies));
      } else {
        made = List.of(context.detached(node.body(), dependencies));
      }
      tasks.put(node, made);
      own.addAll(made);
    }
    all.addAll(own);
    return own;
  }
}
