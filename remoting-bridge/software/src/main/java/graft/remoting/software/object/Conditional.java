package graft.remoting.software.object;

import static graft.remoting.software.memory.Native.UNSAFE;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a conditional node runs: one of its bodies, none, or the one body as long as the condition
 * is not zero. The nodes of a body run one after the other, in the thread that runs the node.
 *
 * @param condition the address of the condition's value
 */
public record Conditional(Kind kind, long condition, List<Graph> bodies) {
  /** CUgraphConditionalNodeType. */
  public enum Kind {
    IF,
    WHILE,
    SWITCH
  }

  /** A condition of a graph: kernels set it by its address, which is the handle that they know. */
  public record Condition(long address, int value, boolean isAssigned) {
    /** Gives the condition its value for a launch. */
    void assign() {
      if (isAssigned) {
        UNSAFE.putInt(address, value);
      }
    }
  }

  /** The node types that bodies can have by CUDA's rules. */
  private static final Set<GraphNode.Type> ALLOWED =
      Set.of(
          GraphNode.Type.KERNEL,
          GraphNode.Type.MEMCPY,
          GraphNode.Type.MEMSET,
          GraphNode.Type.GRAPH,
          GraphNode.Type.EMPTY,
          GraphNode.Type.CONDITIONAL);

  /** Whether the bodies have no node that a body cannot have, and no cycle. */
  boolean isValid() {
    return bodies.stream()
        .allMatch(
            body ->
                body.isValid() && body.nodes().stream().allMatch(n -> ALLOWED.contains(n.type())));
  }

  /** Copies the bodies, and notes the copies of their nodes. */
  Conditional copy(GraphMemory memory, Map<GraphNode, GraphNode> made) {
    List<Graph> copies = new ArrayList<>();
    for (Graph body : bodies) {
      Graph copy = new Graph(memory);
      made.putAll(body.copyInto(copy));
      copies.add(copy);
    }
    return new Conditional(kind, condition, copies);
  }

  /** The work of the node, as its bodies are now. */
  Runnable work(Set<GraphNode> disabled) {
    List<Runnable> choices = bodies.stream().map(body -> inOrder(body, disabled)).toList();
    return () -> run(choices);
  }

  private void run(List<Runnable> choices) {
    switch (kind) {
      case IF -> choose(choices, UNSAFE.getInt(condition) != 0 ? 0 : 1);
      case SWITCH -> choose(choices, UNSAFE.getInt(condition));
      case WHILE -> {
        while (UNSAFE.getInt(condition) != 0) {
          choices.get(0).run();
        }
      }
    }
  }

  private static void choose(List<Runnable> choices, int number) {
    if (number >= 0 && number < choices.size()) {
      choices.get(number).run();
    }
  }

  private static Runnable inOrder(Graph graph, Set<GraphNode> disabled) {
    List<Runnable> all = new ArrayList<>();
    for (GraphNode node : graph.sorted()) {
      if (disabled.contains(node)) {
        continue;
      }
      if (node.child() != null) {
        all.add(inOrder(node.child(), disabled));
      } else if (node.conditional() != null) {
        all.add(node.conditional().work(disabled));
      } else {
        all.add(node.body());
      }
    }
    return () -> all.forEach(Runnable::run);
  }
}
