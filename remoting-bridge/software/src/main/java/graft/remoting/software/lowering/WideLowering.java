package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.callWithBlock;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;

/**
 * The instructions on numbers of 128 bits: mov, ld, st and atom with .b128 (PTX ISA, "Fundamental
 * Types", "mov", "atom"). A register of 128 bits is represented by a pair of registers of 64 bits.
 */
final class WideLowering extends InstructionGroup {
  private final MemoryLowering memory;

  WideLowering(FunctionLowering at) {
    super(at);
    memory = new MemoryLowering(at);
  }

  @Override
  boolean lower(Instruction i) {
    if (!i.has(".b128")) {
      return false;
    }
    switch (i.opcode()) {
      case "mov" -> write(i, i.operands().get(0), read(i, 1));
      case "ld" -> write(i, i.operands().get(0), result(i, "loadB128", address(i, 1), List.of()));
      case "st" -> result(i, "storeB128", address(i, 0), read(i, 1));
      case "atom" -> atomic(i);
      default -> throw unsupported(i);
    }
    return true;
  }

  private void atomic(Instruction i) {
    Expr address = address(i, 1);
    List<Expr> before;
    if (i.has(".exch")) {
      before = result(i, "exchB128", address, read(i, 2));
    } else if (i.has(".cas")) {
      List<Expr> expected = read(i, 2);
      List<Expr> value = read(i, 3);
      before =
          result(
              i,
              "casB128",
              address,
              List.of(expected.get(0), expected.get(1), value.get(0), value.get(1)));
    } else {
      throw unsupported(i);
    }
    write(i, i.operands().get(0), before);
  }

  private Expr address(Instruction i, int operand) {
    return memory.checked(
        (Operand.Address) i.operands().get(operand), MemoryLowering.space(i), 16, i.line());
  }

  /**
   * Returns the result of an access: the lower half is the call's result, the upper half is stored
   * in the block.
   */
  private List<Expr> result(Instruction i, String access, Expr address, List<Expr> values) {
    at.block().setObservesOthers();
    Expr[] arguments = new Expr[values.size() + 1];
    arguments[0] = address;
    for (int k = 0; k < values.size(); k++) {
      arguments[k + 1] = values.get(k);
    }
    Expr low = at.copy(callWithBlock("exec/Atomics", access, Kind.LONG, arguments), PtxType.B64);
    Expr high = at.copy(new Expr.BlockField("wideHigh", Kind.LONG), PtxType.B64);
    return List.of(low, high);
  }

  /** The lower and the upper half of an operand. */
  private List<Expr> read(Instruction i, int operand) {
    if (i.operands().get(operand) instanceof Operand.Vector halves) {
      requirePair(i, halves);
      return List.of(
          at.copy(at.read(halves.elements().get(0), PtxType.B64, i.line()), PtxType.B64),
          at.copy(at.read(halves.elements().get(1), PtxType.B64, i.line()), PtxType.B64));
    }
    FunctionLowering.Pair pair = at.pair(i.operands().get(operand), i.line());
    return List.of(
        at.copy(new Expr.Read(pair.low()), PtxType.B64),
        at.copy(new Expr.Read(pair.high()), PtxType.B64));
  }

  private void write(Instruction i, Operand target, List<Expr> value) {
    if (isSink(target)) {
      return;
    }
    if (target instanceof Operand.Vector halves) {
      requirePair(i, halves);
      at.write(halves.elements().get(0), PtxType.B64, value.get(0), i.line());
      at.write(halves.elements().get(1), PtxType.B64, value.get(1), i.line());
      return;
    }
    FunctionLowering.Pair pair = at.pair(target, i.line());
    at.emit(new Node.Assign(pair.low(), value.get(0)));
    at.emit(new Node.Assign(pair.high(), value.get(1)));
  }

  private static void requirePair(Instruction i, Operand.Vector halves) {
    if (halves.elements().size() != 2) {
      throw PtxException.unsupported(
          i.line(), "'" + i.mnemonic() + "' with " + halves.elements().size() + " parts");
    }
  }
}
