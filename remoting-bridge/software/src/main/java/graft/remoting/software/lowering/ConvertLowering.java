package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.convert;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** PTX ISA, "cvt" and "cvt.pack". */
final class ConvertLowering extends InstructionGroup {
  private static final String CONVERT = "math/Conversions";
  private static final String EIGHT = "math/EightBitFloats";

  ConvertLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    if (!i.opcode().equals("cvt")) {
      return false;
    }
    List<PtxType> types = types(i);
    if (i.has(".pack")) {
      pack(i, types);
      return true;
    }
    if (types.size() != 2) {
      throw unsupported(i);
    }
    PtxType to = types.get(0);
    PtxType from = types.get(1);
    if (i.operands().size() == 3) {
      pair(i, to, from);
    } else if (isEightBits(to) || isEightBits(from)) {
      write(i, 0, to, eightBits(i, to, from));
    } else if (to == PtxType.TF32 && from == PtxType.F32) {
      writeCall(i, CONVERT, "toTf32", read(i, 1, from), flags(i));
    } else if (unknown(to) || unknown(from)) {
      throw unsupported(i);
    } else if (from.isFloat() && to.isFloat()) {
      write(i, 0, to, floatToFloat(i, to, from));
    } else if (from.isFloat()) {
      write(i, 0, to, floatToInteger(i, to, from));
    } else if (to.isFloat()) {
      write(i, 0, to, integerToFloat(i, to, from));
    } else {
      write(i, 0, to, integerToInteger(i, to, from));
    }
    return true;
  }

  private static boolean unknown(PtxType t) {
    return t.isFloat()
        && t != PtxType.F16
        && t != PtxType.BF16
        && t != PtxType.F32
        && t != PtxType.F64;
  }

  /** Rounding in the low bits (0 rn, 1 rz, 2 rm, 3 rp, 4 rna), 8 for relu, 16 for satfinite. */
  private static Expr flags(Instruction i) {
    int r = i.has(".rna") ? 4 : rounding(i);
    return integer(r | (i.has(".relu") ? 8 : 0) | (i.has(".satfinite") ? 16 : 0));
  }

  /** cvt.rn.f16x2.f32 d, a, b: a goes to the high half. */
  private void pair(Instruction i, PtxType to, PtxType from) {
    if (from != PtxType.F32) {
      throw unsupported(i);
    }
    String name =
        switch (to) {
          case F16X2 -> "toHalfPair";
          case BF16X2 -> "toBfloatPair";
          case E4M3X2, E5M2X2 -> eightBitName(to) + "Pair";
          default -> throw unsupported(i);
        };
    write(
        i,
        0,
        isEightBits(to) ? to : PtxType.B32,
        call(
            isEightBits(to) ? EIGHT : CONVERT,
            name,
            Kind.INT,
            read(i, 1, from),
            read(i, 2, from),
            isEightBits(to) ? eightBitFlags(i) : flags(i)));
  }

  private static boolean isEightBits(PtxType t) {
    return t == PtxType.E4M3X2 || t == PtxType.E5M2X2;
  }

  private static String eightBitName(PtxType t) {
    return t == PtxType.E4M3X2 ? "e4m3" : "e5m2";
  }

  private static Expr eightBitFlags(Instruction i) {
    allow(i, ".rn", ".satfinite", ".relu");
    return integer(i.has(".relu") ? 2 : 0);
  }

  /** Pairs of 8-bit numbers from and to pairs of halves. */
  private Expr eightBits(Instruction i, PtxType to, PtxType from) {
    if (to == PtxType.F16X2) {
      String name = from == PtxType.E4M3X2 ? "halvesFromE4m3" : "halvesFromE5m2";
      return call(EIGHT, name, Kind.INT, read(i, 1, from), eightBitFlags(i));
    }
    if (from != PtxType.F16X2) {
      throw unsupported(i);
    }
    return call(
        EIGHT, eightBitName(to) + "FromHalves", Kind.INT, read(i, 1, from), eightBitFlags(i));
  }

  private void pack(Instruction i, List<PtxType> types) {
    PtxType element = types.get(0);
    if (types.size() < 2 || types.get(1) != PtxType.S32) {
      throw unsupported(i);
    }
    Expr c = i.operands().size() > 3 ? read(i, 3, PtxType.B32) : integer(0);
    writeCall(i, CONVERT, "pack" + element, read(i, 1, PtxType.S32), read(i, 2, PtxType.S32), c);
  }

  private Expr integerToInteger(Instruction i, PtxType to, PtxType from) {
    Expr value = read(i, 1, from);
    boolean wideFrom = from.bits() == 64;
    if (i.has(".sat")) {
      // 64 bits hold the value of any source but u64, for which values above the signed range need
      // care.
      Expr wide =
          wideFrom
              ? value
              : from.isSigned() ? convert(Opcodes.I2L, Kind.LONG, value) : Exprs.zeroExtend(value);
      Expr clamped =
          call(
              CONVERT,
              "clamp" + to,
              Kind.LONG,
              wide,
              integer(from == PtxType.U64 || from == PtxType.B64 ? 1 : 0));
      return to.bits() == 64 ? clamped : convert(Opcodes.L2I, Kind.INT, clamped);
    }
    if (to.bits() == 64) {
      if (wideFrom) {
        return value;
      }
      return from.isSigned() ? convert(Opcodes.I2L, Kind.LONG, value) : Exprs.zeroExtend(value);
    }
    if (wideFrom) {
      value = convert(Opcodes.L2I, Kind.INT, value);
    }
    return Exprs.narrow(value, to);
  }

  private Expr integerToFloat(Instruction i, PtxType to, PtxType from) {
    Expr value = read(i, 1, from);
    Expr wide =
        from.bits() == 64
            ? value
            : from.isSigned() ? convert(Opcodes.I2L, Kind.LONG, value) : Exprs.zeroExtend(value);
    boolean unsigned64 = from == PtxType.U64 || from == PtxType.B64;
    if (rounding(i) == 0 && !unsigned64 && (to == PtxType.F32 || to == PtxType.F64)) {
      boolean single = to == PtxType.F32;
      if (from.isSigned() && from.bits() <= 32) {
        return convert(single ? Opcodes.I2F : Opcodes.I2D, Kind.of(to), value);
      }
      return saturated(i, to, convert(single ? Opcodes.L2F : Opcodes.L2D, Kind.of(to), wide));
    }
    return saturated(
        i,
        to,
        call(
            CONVERT,
            "integerTo" + to,
            Kind.of(to),
            wide,
            integer(unsigned64 ? 1 : 0),
            integer(rounding(i))));
  }

  private static Expr saturated(Instruction i, PtxType to, Expr value) {
    if (!i.has(".sat")) {
      return value;
    }
    if (to.bits() == 16) {
      throw unsupported(i);
    }
    return call("math/FloatMath", "saturate", Kind.of(to), value);
  }

  private Expr asDouble(Instruction i, PtxType from) {
    Expr value = flush(i, read(i, 1, from));
    return switch (from) {
      case F64 -> value;
      case F32 -> convert(Opcodes.F2D, Kind.DOUBLE, value);
      case F16 ->
          convert(Opcodes.F2D, Kind.DOUBLE, call("math/HalfMath", "toFloat", Kind.FLOAT, value));
      default ->
          convert(Opcodes.F2D, Kind.DOUBLE, call("math/BfloatMath", "toFloat", Kind.FLOAT, value));
    };
  }

  /**
   * Returns the number of the rounding to an integer, as for {@link #rounding}; -1 if there is
   * none.
   */
  private static int integerRounding(Instruction i) {
    return i.has(".rni") ? 0 : i.has(".rzi") ? 1 : i.has(".rmi") ? 2 : i.has(".rpi") ? 3 : -1;
  }

  /** The result is clamped to the range of its type; see {@code Conversions} for NaN. */
  private Expr floatToInteger(Instruction i, PtxType to, PtxType from) {
    int mode = integerRounding(i);
    if (mode < 0) {
      throw PtxException.invalid(i.line(), "'" + i.mnemonic() + "' needs a rounding to an integer");
    }
    if (mode == 1 && from == PtxType.F32 && to == PtxType.S32) {
      return convert(Opcodes.F2I, Kind.INT, flush(i, read(i, 1, from)));
    }
    Expr value = asDouble(i, from);
    if (to.bits() == 64 || from == PtxType.F64) {
      value = at.once(value, PtxType.F64);
    }
    Expr rounded = mode == 1 ? value : call(CONVERT, "round", Kind.DOUBLE, value, integer(mode));
    Expr result =
        switch (to) {
          case S32 -> convert(Opcodes.D2I, Kind.INT, rounded);
          case S64 -> convert(Opcodes.D2L, Kind.LONG, rounded);
          default -> call(CONVERT, "doubleTo" + to, Kind.of(to), rounded);
        };
    if (to.bits() == 64) {
      return call(CONVERT, "nanToLong", Kind.LONG, value, result);
    }
    if (from == PtxType.F64) {
      return Exprs.narrow(
          call(CONVERT, "nanFromDouble", Kind.INT, value, result, integer(to.bits())), to);
    }
    return result;
  }

  private Expr floatToFloat(Instruction i, PtxType to, PtxType from) {
    int toInteger = integerRounding(i);
    if (toInteger >= 0) {
      Expr rounded = call(CONVERT, "round", Kind.DOUBLE, asDouble(i, from), integer(toInteger));
      return saturatedFloat(i, to, narrowFloat(i, to, rounded, PtxType.F64));
    }
    if (to == from) {
      Expr value = flush(i, read(i, 1, from));
      return saturatedFloat(i, to, value);
    }
    return saturatedFloat(i, to, narrowFloat(i, to, asDouble(i, from), from));
  }

  private Expr narrowFloat(Instruction i, PtxType to, Expr value, PtxType from) {
    return switch (to) {
      case F64 -> value;
      case F32 -> {
        Expr f =
            from == PtxType.F64 && rounding(i) != 0
                ? call("math/Rounding", "toFloat", Kind.FLOAT, value, integer(rounding(i)))
                : convert(Opcodes.D2F, Kind.FLOAT, value);
        yield flush(i, f);
      }
      case F16 -> call(CONVERT, "toHalf", Kind.INT, value, flags(i));
      default -> call(CONVERT, "toBfloat", Kind.INT, value, flags(i));
    };
  }

  private static Expr saturatedFloat(Instruction i, PtxType to, Expr value) {
    if (!i.has(".sat")) {
      return value;
    }
    return switch (to) {
      case F16 -> call("math/HalfMath", "saturate", Kind.INT, value);
      case BF16 -> throw unsupported(i);
      default -> call("math/FloatMath", "saturate", Kind.of(to), value);
    };
  }
}
