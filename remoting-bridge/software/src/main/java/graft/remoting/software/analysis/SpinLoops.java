package graft.remoting.software.analysis;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.SyncPoint;
import graft.remoting.software.ir.Terminator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;

/**
 * Finds loops in which a thread may wait for a write of another thread (locks, flags), and lets
 * other threads run on each iteration: threads of a block make progress independently of each other
 * (CUDA programming guide, "Independent Thread Scheduling").
 */
public final class SpinLoops {
  private SpinLoops() {}

  /** Adds a yield to the back edges of such loops. */
  public static void addYields(FunctionIr ir) {
    List<BasicBlock> blocks = ir.blocks();
    if (blocks.stream().noneMatch(BasicBlock::observesOthers)) {
      return;
    }
    List<List<BasicBlock>> predecessors = predecessors(blocks);
    List<BasicBlock[]> edges = new ArrayList<>();
    for (BasicBlock b : blocks) {
      for (BasicBlock s : Terminator.successors(b.end())) {
        // In a reducible loop, the target of a back edge in reverse post-order is the loop's
        // header.
        if (s.index() <= b.index()
            && !(b.end() instanceof Terminator.Sync)
            && mayWait(ir, loop(b, s, predecessors))) {
          edges.add(new BasicBlock[] {b, s});
        }
      }
    }
    for (BasicBlock[] edge : edges) {
      BasicBlock yield = new BasicBlock();
      yield.setEnd(new Terminator.Sync(ir.syncPoint(SyncPoint.Kind.YIELD, -1), List.of(), edge[1]));
      redirect(edge[0], edge[1], yield);
    }
    if (!edges.isEmpty()) {
      ir.order();
    }
  }

  private static List<List<BasicBlock>> predecessors(List<BasicBlock> blocks) {
    List<List<BasicBlock>> result = new ArrayList<>();
    blocks.forEach(b -> result.add(new ArrayList<>()));
    for (BasicBlock b : blocks) {
      for (BasicBlock s : Terminator.successors(b.end())) {
        result.get(s.index()).add(b);
      }
    }
    return result;
  }

  private static List<BasicBlock> loop(
      BasicBlock latch, BasicBlock header, List<List<BasicBlock>> predecessors) {
    BitSet seen = new BitSet();
    List<BasicBlock> body = new ArrayList<>();
    Deque<BasicBlock> open = new ArrayDeque<>();
    seen.set(header.index());
    body.add(header);
    open.push(latch);
    while (!open.isEmpty()) {
      BasicBlock b = open.pop();
      if (!seen.get(b.index())) {
        seen.set(b.index());
        body.add(b);
        open.addAll(predecessors.get(b.index()));
      }
    }
    return body;
  }

  /** Returns whether leaving the loop depends on a value that another thread may write. */
  private static boolean mayWait(FunctionIr ir, List<BasicBlock> loop) {
    if (loop.stream().noneMatch(BasicBlock::observesOthers)) {
      return false;
    }
    Observed observed = new Observed(new BitSet(ir.registers().size()));
    boolean changed = true;
    while (changed) {
      changed = false;
      for (BasicBlock b : loop) {
        for (Node n : b.nodes()) {
          changed |= observed.add(n);
        }
      }
    }
    for (BasicBlock b : loop) {
      if (b.end() instanceof Terminator.Branch branch && observed.in(branch.condition())) {
        return true;
      }
      if (b.end() instanceof Terminator.Switch table && observed.in(table.index())) {
        return true;
      }
    }
    return false;
  }

  /**
   * The places that hold values which another thread may have written: registers, and memory as a
   * whole.
   */
  private static final class Observed {
    private final BitSet registers;
    private boolean memory;

    Observed(BitSet registers) {
      this.registers = registers;
    }

    /** Follows the values through a node. Returns whether that added a place. */
    boolean add(Node node) {
      if (node instanceof Node.Assign assign) {
        int target = assign.target().index();
        if (registers.get(target) || !in(assign.value())) {
          return false;
        }
        registers.set(target);
        return true;
      }
      if (node instanceof Node.Guarded guarded) {
        boolean more = false;
        for (Node n : guarded.body()) {
          more |= add(n);
        }
        return more;
      }
      // Unoptimized code keeps its variables in local memory.
      if (node instanceof Node.Effect effect && !memory && in(effect.value())) {
        memory = true;
        return true;
      }
      return false;
    }

    boolean in(Expr expr) {
      boolean[] found = new boolean[1];
      Expr.reads(expr, r -> found[0] |= registers.get(r.index()));
      return found[0] || observes(expr);
    }

    private boolean observes(Expr expr) {
      if (expr instanceof Expr.Invoke invoke) {
        return invoke.owner().endsWith("/Atomics")
            || invoke.owner().endsWith("/Mbarrier")
            || invoke.name().startsWith("volatile")
            || memory && invoke.name().startsWith("load")
            || invoke.arguments().stream().anyMatch(this::observes);
      }
      if (expr instanceof Expr.Apply apply) {
        return apply.arguments().stream().anyMatch(this::observes);
      }
      if (expr instanceof Expr.Compare compare) {
        return observes(compare.left()) || observes(compare.right());
      }
      return expr instanceof Expr.Select select
          && (observes(select.condition()) || observes(select.yes()) || observes(select.no()));
    }
  }

  private static void redirect(BasicBlock from, BasicBlock old, BasicBlock replacement) {
    Terminator end = from.end();
    if (end instanceof Terminator.Jump) {
      from.setEnd(new Terminator.Jump(replacement));
    } else if (end instanceof Terminator.Branch b) {
      from.setEnd(
          new Terminator.Branch(
              b.condition(),
              b.taken() == old ? replacement : b.taken(),
              b.other() == old ? replacement : b.other()));
    } else if (end instanceof Terminator.Switch table) {
      from.setEnd(
          new Terminator.Switch(
              table.index(),
              table.targets().stream().map(t -> t == old ? replacement : t).toList()));
    }
  }
}
