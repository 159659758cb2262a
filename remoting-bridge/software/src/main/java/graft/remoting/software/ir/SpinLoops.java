package graft.remoting.software.ir;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;

/**
 * Finds loops in which a thread may wait for what another thread writes (locks, flags) and makes
 * them give way to other threads each time around: threads of a block make progress independently
 * of each other (CUDA programming guide, "Independent Thread Scheduling").
 */
final class SpinLoops {
  private SpinLoops() {}

  /** Adds a yield to the back edges of such loops. */
  static void addYields(FunctionIr ir) {
    List<BasicBlock> blocks = ir.blocks();
    if (blocks.stream().noneMatch(BasicBlock::observesOthers)) {
      return;
    }
    List<List<BasicBlock>> predecessors = predecessors(blocks);
    List<BasicBlock[]> edges = new ArrayList<>();
    for (BasicBlock b : blocks) {
      for (BasicBlock s : Terminator.successors(b.end())) {
        // A back edge in reverse post-order; of a reducible loop its target is the header.
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

  /** Whether leaving the loop depends on a value that another thread may write. */
  private static boolean mayWait(FunctionIr ir, List<BasicBlock> loop) {
    if (loop.stream().noneMatch(BasicBlock::observesOthers)) {
      return false;
    }
    BitSet tainted = new BitSet(ir.registers().size());
    boolean changed = true;
    while (changed) {
      int before = tainted.cardinality();
      for (BasicBlock b : loop) {
        b.nodes().forEach(n -> taint(n, tainted));
      }
      changed = tainted.cardinality() != before;
    }
    for (BasicBlock b : loop) {
      boolean[] found = new boolean[1];
      if (b.end() instanceof Terminator.Branch branch) {
        Expr.reads(branch.condition(), r -> found[0] |= tainted.get(r.index()));
      } else if (b.end() instanceof Terminator.Switch table) {
        Expr.reads(table.index(), r -> found[0] |= tainted.get(r.index()));
      }
      if (found[0]) {
        return true;
      }
    }
    return false;
  }

  private static void taint(Node node, BitSet tainted) {
    if (node instanceof Node.Assign assign) {
      boolean[] found = {observes(assign.value())};
      Expr.reads(assign.value(), r -> found[0] |= tainted.get(r.index()));
      if (found[0]) {
        tainted.set(assign.target().index());
      }
    } else if (node instanceof Node.Guarded guarded) {
      guarded.body().forEach(n -> taint(n, tainted));
    }
  }

  private static boolean observes(Expr expr) {
    if (expr instanceof Expr.Invoke invoke) {
      return invoke.owner().endsWith("/Atomics")
          || invoke.owner().endsWith("/Mbarrier")
          || invoke.name().startsWith("volatile")
          || invoke.arguments().stream().anyMatch(SpinLoops::observes);
    }
    if (expr instanceof Expr.Apply apply) {
      return apply.arguments().stream().anyMatch(SpinLoops::observes);
    }
    if (expr instanceof Expr.Compare compare) {
      return observes(compare.left()) || observes(compare.right());
    }
    return expr instanceof Expr.Select select
        && (observes(select.condition()) || observes(select.yes()) || observes(select.no()));
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
