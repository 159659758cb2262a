package graft.remoting.software.ir;

/** The types of elements of a matrix fragment (PTX ISA, "Matrix Data-types"). */
public enum MatrixType {
  B1(1),
  U4(4),
  S4(4),
  U8(8),
  S8(8),
  E4M3(8),
  E5M2(8),
  F16(16),
  BF16(16),
  TF32(32),
  F32(32),
  S32(32),
  F64(64);

  private final int bits;

  MatrixType(int bits) {
    this.bits = bits;
  }

  public int bits() {
    return bits;
  }

  /** The type named by a dotted word such as {@code .bf16}, or null. */
  public static MatrixType of(String dotted) {
    for (MatrixType t : values()) {
      if (dotted.length() == t.name().length() + 1
          && dotted.regionMatches(true, 1, t.name(), 0, t.name().length())) {
        return t;
      }
    }
    return null;
  }
}
