package graft.remoting.software.ir;

import graft.remoting.software.ptx.PtxType;

/** How the JVM represents a value. Half precision and packed numbers are bits in an INT. */
public enum Kind {
  INT('I'),
  LONG('J'),
  FLOAT('F'),
  DOUBLE('D');

  private final char descriptor;

  Kind(char descriptor) {
    this.descriptor = descriptor;
  }

  /** The letter in a JVM method descriptor. */
  public char descriptor() {
    return descriptor;
  }

  /** True for kinds that take two local variable slots. */
  public boolean isWide() {
    return this == LONG || this == DOUBLE;
  }

  /** Returns how values of a PTX type of at most 64 bits are represented. */
  public static Kind of(PtxType type) {
    return switch (type) {
      case F32 -> FLOAT;
      case F64 -> DOUBLE;
      case B64, U64, S64, F32X2, TEXREF, SURFREF, SAMPLERREF -> LONG;
      default -> INT;
    };
  }
}
