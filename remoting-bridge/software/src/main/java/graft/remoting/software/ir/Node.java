package graft.remoting.software.ir;

import java.util.List;
import java.util.function.Consumer;

/** An element of a basic block. */
public sealed interface Node {

  /** {@code target = value}. */
  record Assign(Register target, Expr value) implements Node {}

  /** A call that has only side effects. */
  record Effect(Expr value) implements Node {}

  /** Nodes that run only when a predicate holds. */
  record Guarded(Expr condition, boolean negated, List<Node> body) implements Node {}

  /**
   * A call of a function of the module. Results and parameters lie in the caller's frame.
   *
   * @param function its name, or null for a call by address
   * @param target the address for a call by address, else null
   * @param argumentOffset the offset of results and parameters in the caller's frame
   */
  record Call(String function, Expr target, int argumentOffset) implements Node {}

  /** Calls {@code action} for every register that a node reads. */
  static void reads(Node node, Consumer<Register> action) {
    if (node instanceof Assign assign) {
      Expr.reads(assign.value(), action);
    } else if (node instanceof Effect effect) {
      Expr.reads(effect.value(), action);
    } else if (node instanceof Guarded guarded) {
      Expr.reads(guarded.condition(), action);
      guarded.body().forEach(n -> reads(n, action));
    } else if (node instanceof Call call && call.target() != null) {
      Expr.reads(call.target(), action);
    }
  }
}
