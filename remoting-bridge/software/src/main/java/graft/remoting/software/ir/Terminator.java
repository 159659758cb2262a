package graft.remoting.software.ir;

import java.util.ArrayList;
import java.util.List;

/** How a basic block ends. */
public sealed interface Terminator {

  /** Goes on at a block. */
  record Jump(BasicBlock target) implements Terminator {}

  /** Goes to {@code taken} if the condition is not 0, else to {@code other}. */
  record Branch(Expr condition, BasicBlock taken, BasicBlock other) implements Terminator {}

  /** Goes to the block with the number; any other number is undefined in PTX and takes the last. */
  record Switch(Expr index, List<BasicBlock> targets) implements Terminator {}

  /**
   * Waits at a synchronization point. The arguments are left for the scheduler, which leaves the
   * results for {@code next} to read.
   */
  record Sync(SyncPoint point, List<Expr> arguments, BasicBlock next) implements Terminator {}

  /** The thread ends. */
  record Exit() implements Terminator {}

  /** Returns from a function that is no kernel. */
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
