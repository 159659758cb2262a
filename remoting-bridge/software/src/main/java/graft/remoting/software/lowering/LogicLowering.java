package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.bitwise;
import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import org.objectweb.asm.Opcodes;

/** PTX ISA, "Logic and Shift Instructions". */
final class LogicLowering extends InstructionGroup {
  private static final String MATH = "math/BitMath";

  LogicLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "and", "or", "xor" -> binary(i);
      case "not" -> not(i);
      case "cnot" -> {
        PtxType t = type(i);
        Expr zero = t.bits() == 64 ? Exprs.number(0) : integer(0);
        Expr one = t.bits() == 64 ? Exprs.number(1) : integer(1);
        Expr is = Exprs.compare(Expr.Condition.EQ, read(i, 1, t), zero);
        write(i, 0, t, new Expr.Select(is, one, zero));
      }
      case "lop3" -> threeInputs(i);
      case "shl", "shr" -> shift(i);
      case "shf" -> {
        String name =
            "funnel" + (i.has(".l") ? "Left" : "Right") + (i.has(".clamp") ? "Clamp" : "Wrap");
        writeCall(
            i,
            MATH,
            name,
            read(i, 1, PtxType.B32),
            read(i, 2, PtxType.B32),
            read(i, 3, PtxType.U32));
      }
      case "prmt" -> permute(i);
      default -> {
        return false;
      }
    }
    return true;
  }

  private void binary(Instruction i) {
    PtxType t = type(i);
    allow(i);
    int opcode =
        switch (i.opcode()) {
          case "and" -> Opcodes.IAND;
          case "or" -> Opcodes.IOR;
          default -> Opcodes.IXOR;
        };
    Expr a = t == PtxType.PRED ? at.predicate(i.operands().get(1), i.line()) : read(i, 1, t);
    Expr b = t == PtxType.PRED ? at.predicate(i.operands().get(2), i.line()) : read(i, 2, t);
    write(i, 0, t, bitwise(opcode, a, b));
  }

  private void not(Instruction i) {
    PtxType t = type(i);
    if (t == PtxType.PRED) {
      write(i, 0, t, Exprs.not(at.predicate(i.operands().get(1), i.line())));
      return;
    }
    Expr ones = t.bits() == 64 ? Exprs.number(-1) : integer(-1);
    write(i, 0, t, bitwise(Opcodes.IXOR, read(i, 1, t), ones));
  }

  /** lop3.b32 d, a, b, c, table; with a boolean operation d|p, a, b, c, table, q. */
  private void threeInputs(Instruction i) {
    Expr value =
        call(
            MATH,
            "lop3",
            Kind.INT,
            read(i, 1, PtxType.B32),
            read(i, 2, PtxType.B32),
            read(i, 3, PtxType.B32),
            read(i, 4, PtxType.B32));
    if (!(i.operands().get(0) instanceof Operand.Pair pair)) {
      write(i, 0, PtxType.B32, value);
      return;
    }
    Expr result = at.copy(value, PtxType.B32);
    Expr q = at.predicate(i.operands().get(5), i.line());
    Expr nonZero = Exprs.compare(Expr.Condition.NE, result, integer(0));
    Expr p = at.copy(bitwise(i.has(".or") ? Opcodes.IOR : Opcodes.IAND, nonZero, q), PtxType.PRED);
    at.write(pair.first(), PtxType.B32, result, i.line());
    at.write(pair.second(), PtxType.PRED, p, i.line());
  }

  /** Shift amounts of the width and above yield 0, or the sign in all bits. */
  private void shift(Instruction i) {
    PtxType t = type(i);
    allow(i);
    boolean left = i.opcode().equals("shl");
    Expr a = read(i, 1, t);
    Expr n = read(i, 2, PtxType.U32);
    boolean signed = t.isSigned();
    if (n instanceof Expr.Const c && c.bits() >= 0 && c.bits() < Math.min(t.bits(), 32)) {
      int opcode = left ? Opcodes.ISHL : signed ? Opcodes.ISHR : Opcodes.IUSHR;
      write(
          i,
          0,
          t,
          new Expr.Apply(
              opcode + a.kind().ordinal(),
              a.kind(),
              java.util.List.of(a, integer((int) c.bits()))));
      return;
    }
    String name = left ? "shiftLeft" : signed ? "shiftRightSigned" : "shiftRight";
    write(i, 0, t, call(MATH, name, Kind.of(t), a, n));
  }

  private void permute(Instruction i) {
    String mode = "";
    for (String m : i.modifiers()) {
      switch (m) {
        case ".f4e" -> mode = "ForwardFour";
        case ".b4e" -> mode = "BackwardFour";
        case ".rc8" -> mode = "Replicate8";
        case ".rc16" -> mode = "Replicate16";
        case ".ecl" -> mode = "EdgeLeft";
        case ".ecr" -> mode = "EdgeRight";
        default -> {}
      }
    }
    writeCall(
        i,
        MATH,
        "permute" + mode,
        read(i, 1, PtxType.B32),
        read(i, 2, PtxType.B32),
        read(i, 3, PtxType.B32));
  }
}
