package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.call;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;

/** Lowers a group of instructions. */
abstract class InstructionGroup {
  protected final FunctionLowering at;

  InstructionGroup(FunctionLowering at) {
    this.at = at;
  }

  /**
   * Lowers an instruction.
   *
   * @return false if the instruction is not in this group
   */
  abstract boolean lower(Instruction i);

  /**
   * Returns whether the instruction ends a basic block, in which case a guard becomes a branch
   * around it.
   */
  boolean endsBlock(Instruction i) {
    return false;
  }

  protected Expr read(Instruction i, int operand, PtxType type) {
    return at.read(i.operands().get(operand), type, i.line());
  }

  protected void write(Instruction i, int operand, PtxType type, Expr value) {
    at.write(i.operands().get(operand), type, value, i.line());
  }

  /** Writes what a function makes of its arguments to the first operand, as a value of 32 bits. */
  protected void writeCall(Instruction i, String owner, String function, Expr... arguments) {
    write(i, 0, PtxType.B32, call(owner, function, Kind.INT, arguments));
  }

  /** Returns the last type among the modifiers, of which there must be one. */
  protected static PtxType type(Instruction i) {
    List<String> modifiers = i.modifiers();
    for (int k = modifiers.size() - 1; k >= 0; k--) {
      PtxType t = PtxType.of(modifiers.get(k));
      if (t != null) {
        return t;
      }
    }
    throw PtxException.invalid(i.line(), "'" + i.mnemonic() + "' has no type");
  }

  /** The types among the modifiers, in order. */
  protected static List<PtxType> types(Instruction i) {
    return i.modifiers().stream().map(PtxType::of).filter(t -> t != null).toList();
  }

  protected static PtxException unsupported(Instruction i) {
    return PtxException.unsupported(i.line(), "instruction '" + i.mnemonic() + "'");
  }

  /** Refuses unknown modifiers. */
  protected static void allow(Instruction i, String... known) {
    List<String> list = List.of(known);
    for (String m : i.modifiers()) {
      if (PtxType.of(m) == null && !list.contains(m)) {
        throw unsupported(i);
      }
    }
  }

  /** Returns the number of the rounding mode: 0 nearest even, 1 towards zero, 2 down, 3 up. */
  protected static int rounding(Instruction i) {
    return i.has(".rz") ? 1 : i.has(".rm") ? 2 : i.has(".rp") ? 3 : 0;
  }

  /** Flushes a subnormal float to zero if the instruction has {@code .ftz}. */
  protected static Expr flush(Instruction i, Expr value) {
    return i.has(".ftz") && value.kind() == Kind.FLOAT
        ? call("math/FloatMath", "flush", Kind.FLOAT, value)
        : value;
  }

  protected static boolean isSink(Operand operand) {
    return operand instanceof Operand.Sink;
  }
}
