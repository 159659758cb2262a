package graft.remoting.software.ptx;

/** A fundamental type of PTX (PTX ISA, "Fundamental Types", "Packed Data Types"). */
public enum PtxType {
  PRED(1, Family.PREDICATE),
  B8(8, Family.BITS),
  B16(16, Family.BITS),
  B32(32, Family.BITS),
  B64(64, Family.BITS),
  B128(128, Family.BITS),
  U8(8, Family.UNSIGNED),
  U16(16, Family.UNSIGNED),
  U32(32, Family.UNSIGNED),
  U64(64, Family.UNSIGNED),
  S8(8, Family.SIGNED),
  S16(16, Family.SIGNED),
  S32(32, Family.SIGNED),
  S64(64, Family.SIGNED),
  F16(16, Family.FLOAT),
  F16X2(32, Family.FLOAT),
  BF16(16, Family.FLOAT),
  BF16X2(32, Family.FLOAT),
  TF32(32, Family.FLOAT),
  F32(32, Family.FLOAT),
  F64(64, Family.FLOAT),
  F32X2(64, Family.FLOAT),
  E4M3X2(16, Family.FLOAT),
  E5M2X2(16, Family.FLOAT),
  U16X2(32, Family.UNSIGNED),
  S16X2(32, Family.SIGNED),
  TEXREF(64, Family.OPAQUE),
  SURFREF(64, Family.OPAQUE),
  SAMPLERREF(64, Family.OPAQUE);

  /** How the bits are interpreted. */
  public enum Family {
    PREDICATE,
    BITS,
    UNSIGNED,
    SIGNED,
    FLOAT,
    OPAQUE
  }

  private final int bits;
  private final Family family;

  PtxType(int bits, Family family) {
    this.bits = bits;
    this.family = family;
  }

  /** Width in bits; 1 for a predicate. */
  public int bits() {
    return bits;
  }

  /** Size in memory in bytes. */
  public int bytes() {
    return Math.max(1, bits / 8);
  }

  public Family family() {
    return family;
  }

  public boolean isSigned() {
    return family == Family.SIGNED;
  }

  public boolean isFloat() {
    return family == Family.FLOAT;
  }

  /** True for a half or bfloat number or a pair of them: held as bits in a register. */
  public boolean isHalf() {
    return this == F16 || this == F16X2 || this == BF16 || this == BF16X2;
  }

  /** The type named by a dotted word such as {@code .u32}, or null. */
  public static PtxType of(String dotted) {
    return switch (dotted) {
      case ".pred" -> PRED;
      case ".b8" -> B8;
      case ".b16" -> B16;
      case ".b32" -> B32;
      case ".b64" -> B64;
      case ".b128" -> B128;
      case ".u8" -> U8;
      case ".u16" -> U16;
      case ".u32" -> U32;
      case ".u64" -> U64;
      case ".s8" -> S8;
      case ".s16" -> S16;
      case ".s32" -> S32;
      case ".s64" -> S64;
      case ".f16" -> F16;
      case ".f16x2" -> F16X2;
      case ".bf16" -> BF16;
      case ".bf16x2" -> BF16X2;
      case ".tf32" -> TF32;
      case ".f32" -> F32;
      case ".f64" -> F64;
      case ".f32x2" -> F32X2;
      case ".e4m3x2" -> E4M3X2;
      case ".e5m2x2" -> E5M2X2;
      case ".u16x2" -> U16X2;
      case ".s16x2" -> S16X2;
      case ".texref" -> TEXREF;
      case ".surfref" -> SURFREF;
      case ".samplerref" -> SAMPLERREF;
      default -> null;
    };
  }
}
