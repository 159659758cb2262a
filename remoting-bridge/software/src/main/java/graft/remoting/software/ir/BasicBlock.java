package graft.remoting.software.ir;

import java.util.ArrayList;
import java.util.List;

/** Nodes that run one after the other, followed by a terminator. */
public final class BasicBlock {
  private final List<Node> nodes = new ArrayList<>();
  private int index = -1;
  private Terminator end;
  private boolean observesOthers;

  /**
   * Returns the number in the function's reverse post-order; -1 before the order is computed, or if
   * the block is unreachable.
   */
  public int index() {
    return index;
  }

  public void setIndex(int index) {
    this.index = index;
  }

  public List<Node> nodes() {
    return nodes;
  }

  public Terminator end() {
    return end;
  }

  public void setEnd(Terminator end) {
    this.end = end;
  }

  /**
   * Returns whether the block reads memory in a way that sees concurrent writes of other threads.
   */
  public boolean observesOthers() {
    return observesOthers;
  }

  public void setObservesOthers() {
    observesOthers = true;
  }
}
