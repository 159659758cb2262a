package graft.remoting.software.ir;

import graft.remoting.software.ptx.PtxType;

/**
 * A virtual register of one function.
 *
 * <p>Registers of 16 bits and less are represented as a zero-extended int, predicates as 0 or 1.
 */
public final class Register {
  private final int index;
  private final String name;
  private final PtxType type;

  public Register(int index, String name, PtxType type) {
    this.index = index;
    this.name = name;
    this.type = type;
  }

  /** Number within its function, from 0. */
  public int index() {
    return index;
  }

  public PtxType type() {
    return type;
  }

  public Kind kind() {
    return Kind.of(type);
  }

  @Override
  public String toString() {
    return name + ":" + index;
  }
}
