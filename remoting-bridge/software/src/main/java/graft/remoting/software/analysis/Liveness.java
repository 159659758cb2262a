package graft.remoting.software.analysis;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Register;
import graft.remoting.software.ir.Terminator;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The registers that are read later, at the start of every basic block. */
public final class Liveness {
  private final List<BitSet> in = new ArrayList<>();

  public Liveness(FunctionIr ir) {
    List<BasicBlock> blocks = ir.blocks();
    List<BitSet> uses = new ArrayList<>();
    List<BitSet> definitions = new ArrayList<>();
    for (BasicBlock b : blocks) {
      BitSet use = new BitSet();
      BitSet defined = new BitSet();
      for (Node n : b.nodes()) {
        Node.reads(n, r -> markUse(r, use, defined));
        if (n instanceof Node.Assign a) {
          defined.set(a.target().index());
        }
      }
      terminatorReads(b.end(), use, defined);
      uses.add(use);
      definitions.add(defined);
      in.add((BitSet) use.clone());
    }
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int i = blocks.size() - 1; i >= 0; i--) {
        BitSet live = new BitSet();
        for (BasicBlock s : Terminator.successors(blocks.get(i).end())) {
          live.or(in.get(s.index()));
        }
        live.andNot(definitions.get(i));
        live.or(uses.get(i));
        if (!live.equals(in.get(i))) {
          in.set(i, live);
          changed = true;
        }
      }
    }
  }

  private static void markUse(Register r, BitSet use, BitSet defined) {
    if (!defined.get(r.index())) {
      use.set(r.index());
    }
  }

  private static void terminatorReads(Terminator end, BitSet use, BitSet defined) {
    if (end instanceof Terminator.Branch branch) {
      Expr.reads(branch.condition(), r -> markUse(r, use, defined));
    } else if (end instanceof Terminator.Switch table) {
      Expr.reads(table.index(), r -> markUse(r, use, defined));
    } else if (end instanceof Terminator.Sync sync) {
      sync.arguments().forEach(e -> Expr.reads(e, r -> markUse(r, use, defined)));
    }
  }

  /**
   * Returns the indices of the registers that are live at the start of a block; guarded writes do
   * not end a register's life.
   */
  public BitSet atStart(BasicBlock block) {
    return in.get(block.index());
  }
}
