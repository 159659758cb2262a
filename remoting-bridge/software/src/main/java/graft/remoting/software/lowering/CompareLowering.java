package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.bitwise;
import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Expr.Condition;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** PTX ISA, "Comparison and Selection Instructions". */
final class CompareLowering extends InstructionGroup {
  CompareLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "setp" -> setPredicate(i);
      case "set" -> set(i);
      case "selp" -> {
        PtxType t = type(i);
        write(
            i,
            0,
            t,
            new Expr.Select(
                at.predicate(i.operands().get(3), i.line()), read(i, 1, t), read(i, 2, t)));
      }
      case "slct" -> {
        PtxType t = types(i).get(0);
        PtxType c = types(i).get(1);
        Expr value = flush(i, read(i, 3, c));
        Expr zero = new Expr.Const(Kind.of(c), 0);
        write(
            i,
            0,
            t,
            new Expr.Select(
                Exprs.compare(Condition.GE, value, zero), read(i, 1, t), read(i, 2, t)));
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private static final List<String> BOOLEAN = List.of(".and", ".or", ".xor");

  private void setPredicate(Instruction i) {
    PtxType t = type(i);
    if (t == PtxType.F16X2 || t == PtxType.BF16X2) {
      pairPredicates(i, t);
      return;
    }
    Expr holds = at.once(compare(i, t, 1), PtxType.PRED);
    Expr q = combined(i, holds, 3);
    if (i.operands().get(0) instanceof Operand.Pair pair) {
      Expr opposite = combined(i, Exprs.not(holds), 3);
      Expr first = at.copy(q, PtxType.PRED);
      Expr second = at.copy(opposite, PtxType.PRED);
      at.write(pair.first(), PtxType.PRED, first, i.line());
      at.write(pair.second(), PtxType.PRED, second, i.line());
    } else {
      write(i, 0, PtxType.PRED, q);
    }
  }

  /** setp.f16x2 p|q: p for the low halves, q for the high ones. */
  private void pairPredicates(Instruction i, PtxType t) {
    Operand.Pair pair = (Operand.Pair) i.operands().get(0);
    Expr a = at.copy(read(i, 1, t), PtxType.B32);
    Expr b = at.copy(read(i, 2, t), PtxType.B32);
    Expr low = combined(i, half(i, t, a, b, 0), 3);
    Expr high = combined(i, half(i, t, a, b, 16), 3);
    Expr first = at.copy(low, PtxType.PRED);
    Expr second = at.copy(high, PtxType.PRED);
    at.write(pair.first(), PtxType.PRED, first, i.line());
    at.write(pair.second(), PtxType.PRED, second, i.line());
  }

  private Expr half(Instruction i, PtxType t, Expr a, Expr b, int shift) {
    return floatCompare(i, widen(t, shifted(a, shift)), widen(t, shifted(b, shift)));
  }

  private static Expr shifted(Expr a, int shift) {
    Expr s = shift == 0 ? a : bitwise(Opcodes.IUSHR, a, integer(shift));
    return Exprs.narrow(s, PtxType.U16);
  }

  private static Expr widen(PtxType t, Expr bits) {
    boolean half = t == PtxType.F16 || t == PtxType.F16X2;
    return call(half ? "math/HalfMath" : "math/BfloatMath", "toFloat", Kind.FLOAT, bits);
  }

  private Expr combined(Instruction i, Expr holds, int operand) {
    if (i.modifiers().stream().noneMatch(BOOLEAN::contains)) {
      return holds;
    }
    int opcode = i.has(".and") ? Opcodes.IAND : i.has(".or") ? Opcodes.IOR : Opcodes.IXOR;
    return bitwise(opcode, holds, at.predicate(i.operands().get(operand), i.line()));
  }

  private void set(Instruction i) {
    PtxType result = types(i).get(0);
    PtxType t = types(i).get(1);
    if (t == PtxType.F16X2 || t == PtxType.BF16X2) {
      Expr a = at.copy(read(i, 1, t), PtxType.B32);
      Expr b = at.copy(read(i, 2, t), PtxType.B32);
      int one = result == PtxType.F16X2 ? 0x3c00 : result == PtxType.BF16X2 ? 0x3f80 : 0xffff;
      Expr low = select(half(i, t, a, b, 0), one);
      Expr high = select(half(i, t, a, b, 16), one << 16);
      write(i, 0, PtxType.B32, bitwise(Opcodes.IOR, low, high));
      return;
    }
    Expr holds = combined(i, compare(i, t, 1), 3);
    Expr value =
        switch (result) {
          case F32 ->
              new Expr.Select(
                  holds,
                  new Expr.Const(Kind.FLOAT, Float.floatToRawIntBits(1)),
                  new Expr.Const(Kind.FLOAT, 0));
          case F16 -> select(holds, 0x3c00);
          case BF16 -> select(holds, 0x3f80);
          case U16 -> select(holds, 0xffff);
          default -> select(holds, -1);
        };
    write(i, 0, result, value);
  }

  private static Expr select(Expr condition, int value) {
    return new Expr.Select(condition, integer(value), integer(0));
  }

  private Expr compare(Instruction i, PtxType t, int operand) {
    if (t == PtxType.F16 || t == PtxType.BF16) {
      return floatCompare(i, widen(t, read(i, operand, t)), widen(t, read(i, operand + 1, t)));
    }
    if (t.isFloat()) {
      return floatCompare(i, flush(i, read(i, operand, t)), flush(i, read(i, operand + 1, t)));
    }
    Expr a = read(i, operand, t);
    Expr b = read(i, operand + 1, t);
    boolean unsigned = !t.isSigned() && t.bits() >= 32;
    for (String m : i.modifiers()) {
      switch (m) {
        case ".eq" -> {
          return Exprs.compare(Condition.EQ, a, b);
        }
        case ".ne" -> {
          return Exprs.compare(Condition.NE, a, b);
        }
        case ".lt" -> {
          return ordered(Condition.LT, a, b, unsigned);
        }
        case ".le" -> {
          return ordered(Condition.LE, a, b, unsigned);
        }
        case ".gt" -> {
          return ordered(Condition.GT, a, b, unsigned);
        }
        case ".ge" -> {
          return ordered(Condition.GE, a, b, unsigned);
        }
        case ".lo" -> {
          return ordered(Condition.LT, a, b, true);
        }
        case ".ls" -> {
          return ordered(Condition.LE, a, b, true);
        }
        case ".hi" -> {
          return ordered(Condition.GT, a, b, true);
        }
        case ".hs" -> {
          return ordered(Condition.GE, a, b, true);
        }
        default -> {}
      }
    }
    throw unsupported(i);
  }

  /** Unsigned order is signed order with the sign bits flipped. */
  private static Expr ordered(Condition condition, Expr a, Expr b, boolean unsigned) {
    return unsigned
        ? Exprs.compare(condition, turned(a), turned(b))
        : Exprs.compare(condition, a, b);
  }

  private static Expr turned(Expr a) {
    Expr sign = a.kind() == Kind.LONG ? Exprs.number(Long.MIN_VALUE) : integer(Integer.MIN_VALUE);
    if (a instanceof Expr.Const c) {
      return a.kind() == Kind.LONG
          ? Exprs.number(c.bits() ^ Long.MIN_VALUE)
          : integer((int) c.bits() ^ Integer.MIN_VALUE);
    }
    return Exprs.arithmetic(Opcodes.IADD, a, sign);
  }

  private static Expr floatCompare(Instruction i, Expr a, Expr b) {
    for (String m : i.modifiers()) {
      switch (m) {
        case ".eq" -> {
          return Exprs.compare(Condition.EQ, a, b);
        }
        case ".lt" -> {
          return Exprs.compare(Condition.LT, a, b);
        }
        case ".le" -> {
          return Exprs.compare(Condition.LE, a, b);
        }
        case ".gt" -> {
          return Exprs.compare(Condition.GT, a, b);
        }
        case ".ge" -> {
          return Exprs.compare(Condition.GE, a, b);
        }
        // neu is true for NaN, ne is not.
        case ".neu" -> {
          return Exprs.not(Exprs.compare(Condition.EQ, a, b));
        }
        case ".ltu" -> {
          return Exprs.not(Exprs.compare(Condition.GE, a, b));
        }
        case ".leu" -> {
          return Exprs.not(Exprs.compare(Condition.GT, a, b));
        }
        case ".gtu" -> {
          return Exprs.not(Exprs.compare(Condition.LE, a, b));
        }
        case ".geu" -> {
          return Exprs.not(Exprs.compare(Condition.LT, a, b));
        }
        case ".ne" -> {
          return call("math/FloatMath", "orderedNotEqual", Kind.INT, a, b);
        }
        case ".equ" -> {
          return Exprs.not(call("math/FloatMath", "orderedNotEqual", Kind.INT, a, b));
        }
        case ".num" -> {
          return call("math/FloatMath", "bothNumbers", Kind.INT, a, b);
        }
        case ".nan" -> {
          return Exprs.not(call("math/FloatMath", "bothNumbers", Kind.INT, a, b));
        }
        default -> {}
      }
    }
    throw unsupported(i);
  }
}
