package graft.remoting.software.object;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A node of a graph. */
public final class GraphNode {
  /** CUgraphNodeType. */
  public enum Type {
    KERNEL,
    MEMCPY,
    MEMSET,
    HOST,
    GRAPH,
    EMPTY,
    WAIT_EVENT,
    EVENT_RECORD,
    SIGNAL_EXTERNAL,
    WAIT_EXTERNAL,
    ALLOCATE,
    FREE,
    BATCH_MEM_OP,
    CONDITIONAL
  }

  /**
   * The work of a fill. A capture takes any address, but the graph cannot be instantiated while
   * there is no memory (seen on an H200, driver 580).
   *
   * @param isThere whether the memory is there now
   * @param work the work
   */
  public record Fill(BooleanSupplier isThere, Runnable work) implements Runnable {
    @Override
    public void run() {
      work.run();
    }
  }

  private final Graph graph;
  private final Type type;
  private final List<GraphNode> dependencies = new ArrayList<>();
  private Runnable body;
  private Graph child;
  private Conditional conditional;
  private long address;
  private long handle;

  public GraphNode(Graph graph, Type type, Runnable body) {
    this.graph = graph;
    this.type = type;
    this.body = body;
  }

  public Graph graph() {
    return graph;
  }

  public Type type() {
    return type;
  }

  public List<GraphNode> dependencies() {
    return dependencies;
  }

  public Runnable body() {
    return body;
  }

  public void setBody(Runnable value) {
    body = value;
  }

  public Graph child() {
    return child;
  }

  public void setChild(Graph value) {
    child = value;
  }

  /** What a conditional node runs; null for a node of another type. */
  public Conditional conditional() {
    return conditional;
  }

  public void setConditional(Conditional value) {
    conditional = value;
  }

  /** Returns the memory of an allocation or free node. */
  public long address() {
    return address;
  }

  public void setAddress(long value) {
    address = value;
  }

  public long handle() {
    return handle;
  }

  public void setHandle(long value) {
    handle = value;
  }
}
