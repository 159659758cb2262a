package graft.remoting.software.object;

import java.util.ArrayList;
import java.util.List;

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
    FREE
  }

  private final Graph graph;
  private final Type type;
  private final List<GraphNode> dependencies = new ArrayList<>();
  private Runnable body;
  private Graph child;
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
