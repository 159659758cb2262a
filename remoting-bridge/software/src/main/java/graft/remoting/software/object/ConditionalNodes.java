package graft.remoting.software.object;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Conditional nodes of graphs, and the conditions that kernels set. */
public final class ConditionalNodes {
  /** CU_GRAPH_COND_ASSIGN_DEFAULT. */
  private static final int ASSIGN_DEFAULT = 1;

  private static final int MOST_BODIES = 1 << 10;

  private final Handles handles;
  private final Contexts contexts;

  /** The arrays of handles that programs get, each for the first body of a node. */
  private final Map<Graph, Long> arrays = new IdentityHashMap<>();

  public ConditionalNodes(Handles handles, Contexts contexts) {
    this.handles = handles;
    this.contexts = contexts;
  }

  /** CUDA neither clones a graph with conditional nodes nor makes a child graph of it. */
  public static void refuseCopy(Graph graph) {
    if (graph.nodes().stream().anyMatch(n -> n.conditional() != null)) {
      throw new CudaException(CudaResult.NOT_SUPPORTED, "copying a graph with conditional nodes");
    }
  }

  /** Makes a condition for a node of a graph, and returns its handle. */
  public long condition(Graph graph, int value, int flags) {
    require(flags == 0 || flags == ASSIGN_DEFAULT, "unknown flags");
    long address = Allocations.allocateFor(graph.memory(), contexts.memory(), Integer.BYTES);
    UNSAFE.putInt(address, value);
    graph.conditions().add(new Conditional.Condition(address, value, flags == ASSIGN_DEFAULT));
    return address;
  }

  /**
   * Makes the bodies of a new node.
   *
   * @param p CUDA_CONDITIONAL_NODE_PARAMS: the condition's handle, the type at 8, the number of
   *     bodies at 12, and at 16 the place for their array
   */
  public synchronized Conditional create(Graph graph, long p) {
    long condition = UNSAFE.getLong(p);
    require(
        graph.conditions().stream().anyMatch(c -> c.address() == condition),
        "the condition was not made for this graph");
    int type = UNSAFE.getInt(p + 8);
    int count = UNSAFE.getInt(p + 12);
    require(type >= 0 && type < Conditional.Kind.values().length, "unknown type");
    Conditional.Kind kind = Conditional.Kind.values()[type];
    int most =
        switch (kind) {
          case IF -> 2;
          case WHILE -> 1;
          case SWITCH -> MOST_BODIES;
        };
    require(count > 0 && count <= most, "a number of bodies that this type cannot have");
    List<Graph> bodies = new ArrayList<>();
    long array = UNSAFE.allocateMemory(8L * count);
    for (int i = 0; i < count; i++) {
      Graph body = new Graph(graph.memory());
      bodies.add(body);
      putLong(array + 8L * i, handles.add(body));
    }
    arrays.put(bodies.get(0), array);
    putLong(p + 16, array);
    return new Conditional(kind, condition, List.copyOf(bodies));
  }

  /** Forgets the handles of a graph's nodes, and of what is in them. */
  public void forget(Graph graph) {
    graph.nodes().forEach(this::forget);
  }

  /** Forgets the handle of a node, and of what is in it. */
  public synchronized void forget(GraphNode node) {
    handles.remove(node.handle());
    if (node.conditional() == null) {
      return;
    }
    List<Graph> bodies = node.conditional().bodies();
    bodies.forEach(this::forget);
    Long array = arrays.remove(bodies.get(0));
    if (array != null) {
      for (int i = 0; i < bodies.size(); i++) {
        handles.remove(UNSAFE.getLong(array + 8L * i));
      }
      UNSAFE.freeMemory(array);
    }
  }
}
