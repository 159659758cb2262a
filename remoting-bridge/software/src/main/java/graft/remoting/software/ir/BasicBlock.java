package graft.remoting.software.ir;

import java.util.ArrayList;
import java.util.List;

/** Nodes that run one after the other, and where to go then. */
public final class BasicBlock {
  private final List<Node> nodes = new ArrayList<>();
  private int index = -1;
  private Terminator end;
  private boolean observesOthers;

  /** Number in the function's reverse post-order; -1 before that is computed or if unreachable. */
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

  /** True if it reads memory in a way that sees what other threads write meanwhile. */
  public boolean observesOthers() {
    return observesOthers;
  }

  public void setObservesOthers() {
    observesOthers = true;
  }
}
