package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.integer;
import static graft.remoting.software.ir.Exprs.number;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.Operand.Immediate;
import graft.remoting.software.ptx.PtxType;
import org.objectweb.asm.Opcodes;

/** Conversions between the types of registers, immediates and instructions. */
final class Values {
  private Values() {}

  static Expr constant(Immediate immediate, PtxType type) {
    return switch (immediate.form()) {
      case INTEGER ->
          switch (Kind.of(type)) {
            case FLOAT -> new Expr.Const(Kind.FLOAT, Float.floatToRawIntBits(immediate.bits()));
            case DOUBLE ->
                new Expr.Const(Kind.DOUBLE, Double.doubleToRawLongBits(immediate.bits()));
            case LONG -> number(immediate.bits());
            case INT -> Exprs.narrow(integer((int) immediate.bits()), type);
          };
      case FLOAT32 ->
          switch (Kind.of(type)) {
            case FLOAT, INT -> new Expr.Const(Kind.of(type), (int) immediate.bits());
            case DOUBLE ->
                new Expr.Const(
                    Kind.DOUBLE,
                    Double.doubleToRawLongBits(Float.intBitsToFloat((int) immediate.bits())));
            case LONG -> number(immediate.bits());
          };
      case FLOAT64 -> {
        float narrow = (float) Double.longBitsToDouble(immediate.bits());
        yield switch (Kind.of(type)) {
          case FLOAT -> new Expr.Const(Kind.FLOAT, Float.floatToRawIntBits(narrow));
          case INT -> integer(Float.floatToRawIntBits(narrow));
          case DOUBLE, LONG -> new Expr.Const(Kind.of(type), immediate.bits());
        };
      }
    };
  }

  /**
   * Converts a value of a register's type to an instruction's type: bits are kept, and wider values
   * are truncated.
   */
  static Expr adapt(Expr value, PtxType from, PtxType to) {
    Kind have = Kind.of(from);
    Kind want = Kind.of(to);
    Expr v = value;
    if (have == Kind.FLOAT && want != Kind.FLOAT) {
      v = Exprs.reinterpret(v, Kind.INT);
      have = Kind.INT;
    } else if (have == Kind.DOUBLE && want != Kind.DOUBLE) {
      v = Exprs.reinterpret(v, Kind.LONG);
      have = Kind.LONG;
    }
    if (have == Kind.INT && (want == Kind.LONG || want == Kind.DOUBLE)) {
      v = to.isSigned() ? Exprs.convert(Opcodes.I2L, Kind.LONG, v) : Exprs.zeroExtend(v);
      have = Kind.LONG;
    } else if (have == Kind.LONG && (want == Kind.INT || want == Kind.FLOAT)) {
      v =
          v instanceof Expr.Const c
              ? integer((int) c.bits())
              : Exprs.convert(Opcodes.L2I, Kind.INT, v);
      have = Kind.INT;
    }
    if (have != want) {
      return Exprs.reinterpret(v, want);
    }
    if (want == Kind.INT && to.bits() < 32 && to != from) {
      boolean alreadyNarrow =
          from.bits() <= to.bits() && !to.isSigned() && from != PtxType.S16 && from != PtxType.S8;
      return alreadyNarrow ? v : Exprs.narrow(v, to);
    }
    return to.isSigned() && to.bits() < 32 && want == Kind.INT ? Exprs.narrow(v, to) : v;
  }

  /** Converts a value of an instruction's type to the contents of a register. */
  static Expr fit(Expr value, PtxType type, PtxType register) {
    Kind want = Kind.of(register);
    Expr v = value;
    if (v.kind() == Kind.FLOAT && want != Kind.FLOAT) {
      v = Exprs.reinterpret(v, Kind.INT);
    } else if (v.kind() == Kind.DOUBLE && want != Kind.DOUBLE) {
      v = Exprs.reinterpret(v, Kind.LONG);
    }
    if (v.kind() == Kind.INT && (want == Kind.LONG || want == Kind.DOUBLE)) {
      v = type.isSigned() ? Exprs.convert(Opcodes.I2L, Kind.LONG, v) : Exprs.zeroExtend(v);
    } else if (v.kind() == Kind.LONG && (want == Kind.INT || want == Kind.FLOAT)) {
      v = Exprs.convert(Opcodes.L2I, Kind.INT, v);
    }
    v = Exprs.reinterpret(v, want);
    if (want == Kind.INT && register.bits() < 32 && register != PtxType.PRED) {
      // Registers of 16 bits are zero-extended, whatever their type.
      v = Exprs.narrow(v, register.bits() == 16 ? PtxType.U16 : PtxType.U8);
    }
    return v;
  }
}
