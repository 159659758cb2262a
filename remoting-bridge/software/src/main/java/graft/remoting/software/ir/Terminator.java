package graft.remoting.software.ir;

import java.util.ArrayList;
import java.util.List;

/** How a basic block ends. */
public sealed interface Terminator {

  /** Continues at a block. */
  record Jump(BasicBlock target) implements Terminator {}

  /** Continues at {@code taken} if the condition is not 0, else at {@code other}. */
  record Branch(Expr condition, BasicBlock taken, BasicBlock other) implements Terminator {}

  /**
   * Continues at the block with that number. Any other number is undefined in PTX and selects the
   * last block.
   */
  record Switch(Expr index, List<BasicBlock> targets) implements Terminator {}

  /**
   * Waits at a synchronization point. The arguments are stored for the scheduler, which stores the
   * results for {@code next} to read.
   */
  record Sync(SyncPoint point, List<Expr> arguments, BasicBlock next) implements Terminator {}

  /** The thread ends. */
  record Exit() implements Terminator {}

  /** Returns from a device function. */
  record Return() implements Terminator {}

  /** The blocks that may follow. */
  static List<BasicBlock> successors(Terminator end) {
    if (end instanceof Jump jump) {
      return List.of(jump.target());
    }
    if (end instanceof Branch branch) {
      return branch.taken() == branch.other()
          ? List.of(branch.taken())
          : List.of(branch.taken(), branch.other());
    }
    if (end instanceof Switch table) {
      return new ArrayList<>(new java.util.LinkedHashSet<>(table.targets()));
    }
    if (end instanceof Sync sync) {
      return List.of(sync.next());
    }
    return List.of();
  }
}
