package graft.remoting.software.driver;

import java.util.ArrayList;
import java.util.List;

/** A node of a graph. */
final class GraphNode {
  /** CUgraphNodeType. */
  enum Type {
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

  GraphNode(Graph graph, Type type, Runnable body) {
    this.graph = graph;
    this.type = type;
    this.body = body;
  }

  Graph graph() {
    return graph;
  }

  Type type() {
    return type;
  }

  List<GraphNode> dependencies() {
    return dependencies;
  }

  Runnable body() {
    return body;
  }

  void setBody(Runnable value) {
    body = value;
  }

  Graph child() {
    return child;
  }

  void setChild(Graph value) {
    child = value;
  }

  /** Of an allocation or free node: the memory. */
  long address() {
    return address;
  }

  void setAddress(long value) {
    address = value;
  }

  long handle() {
    return handle;
  }

  void setHandle(long value) {
    handle = value;
  }
}
