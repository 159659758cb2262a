package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.arithmetic;
import static graft.remoting.software.ir.Exprs.bitwise;
import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic". */
final class IntegerLowering extends InstructionGroup {
  private static final String MATH = "math/IntegerMath";
  private static final String BITS = "math/BitMath";

  IntegerLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "add", "sub", "mul", "mad", "div", "rem", "min", "max", "abs", "neg" -> {
        return !type(i).isFloat() && arithmeticOf(i);
      }
      case "addc", "subc", "madc" -> extended(i, true);
      case "mul24" -> product24(i, null);
      case "mad24" -> product24(i, read(i, 3, type(i)));
      case "sad" -> {
        PtxType t = type(i);
        Expr difference =
            call(MATH, "absoluteDifference" + suffix(t), Kind.of(t), read(i, 1, t), read(i, 2, t));
        write(i, 0, t, arithmetic(Opcodes.IADD, difference, read(i, 3, t)));
      }
      case "popc", "clz", "bfind", "brev", "fns", "bfe", "bfi", "szext", "bmsk" -> bits(i);
      case "dp4a", "dp2a" -> dotProduct(i);
      default -> {
        return false;
      }
    }
    return true;
  }

  /** {@code S32}, {@code U64} and so on: 16-bit numbers are computed in 32 bits. */
  private static String suffix(PtxType t) {
    return (t.isSigned() ? "S" : "U") + (t.bits() == 64 ? "64" : "32");
  }

  private boolean arithmeticOf(Instruction i) {
    PtxType t = type(i);
    if (t == PtxType.U16X2 || t == PtxType.S16X2) {
      allow(i);
      write(i, 0, t, call(MATH, i.opcode() + t, Kind.INT, read(i, 1, t), read(i, 2, t)));
      return true;
    }
    switch (i.opcode()) {
      case "add", "sub" -> addOrSubtract(i, t);
      case "mul" -> multiply(i, t);
      case "mad" -> multiplyAdd(i, t);
      case "div", "rem", "min", "max" -> {
        allow(i);
        write(
            i, 0, t, call(MATH, i.opcode() + suffix(t), Kind.of(t), read(i, 1, t), read(i, 2, t)));
      }
      case "abs" -> {
        allow(i);
        write(i, 0, t, Exprs.java("Math", "abs", Kind.of(t), read(i, 1, t)));
      }
      default -> {
        allow(i);
        write(i, 0, t, Exprs.negate(read(i, 1, t)));
      }
    }
    return true;
  }

  private void addOrSubtract(Instruction i, PtxType t) {
    if (i.has(".cc")) {
      extended(i, false);
      return;
    }
    allow(i, ".sat");
    Expr a = read(i, 1, t);
    Expr b = read(i, 2, t);
    if (i.has(".sat")) {
      write(i, 0, t, call(MATH, i.opcode() + "Saturated", Kind.INT, a, b));
      return;
    }
    write(i, 0, t, arithmetic(i.opcode().equals("add") ? Opcodes.IADD : Opcodes.ISUB, a, b));
  }

  private void multiply(Instruction i, PtxType t) {
    allow(i, ".lo", ".hi", ".wide");
    if (i.has(".wide")) {
      write(i, 0, wide(t), wideProduct(i, t));
    } else if (i.has(".hi")) {
      write(i, 0, t, highProduct(t, read(i, 1, t), read(i, 2, t)));
    } else {
      write(i, 0, t, arithmetic(Opcodes.IMUL, read(i, 1, t), read(i, 2, t)));
    }
  }

  private void multiplyAdd(Instruction i, PtxType t) {
    if (i.has(".cc")) {
      extended(i, false);
      return;
    }
    allow(i, ".lo", ".hi", ".wide", ".sat");
    if (i.has(".wide")) {
      PtxType w = wide(t);
      write(i, 0, w, arithmetic(Opcodes.IADD, wideProduct(i, t), read(i, 3, w)));
      return;
    }
    Expr a = read(i, 1, t);
    Expr b = read(i, 2, t);
    Expr c = read(i, 3, t);
    Expr product = i.has(".hi") ? highProduct(t, a, b) : arithmetic(Opcodes.IMUL, a, b);
    write(
        i,
        0,
        t,
        i.has(".sat")
            ? call(MATH, "addSaturated", Kind.INT, product, c)
            : arithmetic(Opcodes.IADD, product, c));
  }

  private static PtxType wide(PtxType t) {
    return switch (t) {
      case U16 -> PtxType.U32;
      case S16 -> PtxType.S32;
      case U32 -> PtxType.U64;
      default -> PtxType.S64;
    };
  }

  private Expr wideProduct(Instruction i, PtxType t) {
    if (t.bits() == 64) {
      throw unsupported(i);
    }
    Expr a = read(i, 1, t);
    Expr b = read(i, 2, t);
    if (t.bits() == 32) {
      a = t.isSigned() ? signExtend(a) : Exprs.zeroExtend(a);
      b = t.isSigned() ? signExtend(b) : Exprs.zeroExtend(b);
    }
    return arithmetic(Opcodes.IMUL, a, b);
  }

  private static Expr signExtend(Expr a) {
    return a instanceof Expr.Const c
        ? Exprs.number((int) c.bits())
        : Exprs.convert(Opcodes.I2L, Kind.LONG, a);
  }

  private static Expr highProduct(PtxType t, Expr a, Expr b) {
    if (t.bits() == 16) {
      return bitwise(Opcodes.ISHR, arithmetic(Opcodes.IMUL, a, b), integer(16));
    }
    return call(MATH, "mulHigh" + suffix(t), Kind.of(t), a, b);
  }

  /** mul24 and mad24 multiply the low 24 bits. */
  private void product24(Instruction i, Expr addend) {
    PtxType t = type(i);
    allow(i, ".lo", ".hi");
    String name = "mul24" + (i.has(".hi") ? "High" : "Low") + suffix(t);
    Expr product = call(MATH, name, Kind.INT, read(i, 1, t), read(i, 2, t));
    write(i, 0, t, addend == null ? product : arithmetic(Opcodes.IADD, product, addend));
  }

  /** The forms that write or read the carry flag. */
  private void extended(Instruction i, boolean withCarry) {
    PtxType t = type(i);
    allow(i, ".cc", ".lo", ".hi");
    Kind kind = Kind.of(t);
    boolean subtract = i.opcode().startsWith("sub");
    boolean multiply = i.opcode().startsWith("mad");
    Expr a = read(i, 1, t);
    Expr b = read(i, 2, t);
    if (multiply) {
      a = i.has(".hi") ? highProduct(t, a, b) : arithmetic(Opcodes.IMUL, a, b);
      b = read(i, 3, t);
      a = at.once(a, t.bits() == 64 ? PtxType.B64 : PtxType.B32);
    }
    Expr carryIn = withCarry ? new Expr.Read(at.carry()) : integer(0);
    Expr carryOut =
        i.has(".cc")
            ? at.copy(
                call(MATH, subtract ? "borrow" : "carry", Kind.INT, a, b, carryIn), PtxType.PRED)
            : null;
    Expr result = arithmetic(subtract ? Opcodes.ISUB : Opcodes.IADD, a, b);
    if (withCarry) {
      Expr c = kind == Kind.LONG ? Exprs.convert(Opcodes.I2L, Kind.LONG, carryIn) : carryIn;
      result = arithmetic(subtract ? Opcodes.ISUB : Opcodes.IADD, result, c);
    }
    write(i, 0, t, result);
    if (carryOut != null) {
      at.emit(new Node.Assign(at.carry(), carryOut));
    }
  }

  private void bits(Instruction i) {
    PtxType t = type(i);
    Kind kind = Kind.of(t);
    String box = kind == Kind.LONG ? "Long" : "Integer";
    switch (i.opcode()) {
      case "popc" -> write(i, 0, PtxType.U32, Exprs.java(box, "bitCount", Kind.INT, read(i, 1, t)));
      case "clz" ->
          write(
              i, 0, PtxType.U32, Exprs.java(box, "numberOfLeadingZeros", Kind.INT, read(i, 1, t)));
      case "brev" -> write(i, 0, t, Exprs.java(box, "reverse", kind, read(i, 1, t)));
      case "bfind" -> {
        String name = "bfind" + suffix(t) + (i.has(".shiftamt") ? "Shift" : "");
        write(i, 0, PtxType.U32, call(BITS, name, Kind.INT, read(i, 1, t)));
      }
      case "fns" -> {
        Expr mask = read(i, 1, PtxType.B32);
        Expr base = read(i, 2, PtxType.B32);
        writeCall(i, BITS, "fns", mask, base, read(i, 3, PtxType.S32));
      }
      case "bfe" -> {
        Expr position = read(i, 2, PtxType.U32);
        Expr length = read(i, 3, PtxType.U32);
        write(i, 0, t, call(BITS, "bfe" + suffix(t), kind, read(i, 1, t), position, length));
      }
      case "bfi" -> {
        Expr position = read(i, 3, PtxType.U32);
        Expr length = read(i, 4, PtxType.U32);
        String name = "bfi" + (t.bits() == 64 ? "64" : "32");
        write(i, 0, t, call(BITS, name, kind, read(i, 1, t), read(i, 2, t), position, length));
      }
      default -> {
        String name =
            i.opcode()
                + (i.opcode().equals("szext") ? suffix(t) : "")
                + (i.has(".clamp") ? "Clamp" : "Wrap");
        write(i, 0, t, call(BITS, name, Kind.INT, read(i, 1, t), read(i, 2, PtxType.U32)));
      }
    }
  }

  private void dotProduct(Instruction i) {
    List<PtxType> types = types(i);
    String name = i.opcode() + (i.has(".hi") ? "High" : i.has(".lo") ? "Low" : "");
    writeCall(
        i,
        MATH,
        name,
        read(i, 1, PtxType.B32),
        read(i, 2, PtxType.B32),
        read(i, 3, PtxType.B32),
        integer(types.get(0).isSigned() ? 1 : 0),
        integer(types.get(1).isSigned() ? 1 : 0));
  }
}
