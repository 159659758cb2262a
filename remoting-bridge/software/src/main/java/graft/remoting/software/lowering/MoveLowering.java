package graft.remoting.software.lowering;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Space;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** mov, with packing and unpacking of vectors (PTX ISA, "mov"). */
final class MoveLowering extends InstructionGroup {
  MoveLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "mov" -> move(i);
      case "mapa" -> mapToRank(i);
      case "getctarank" -> rankOf(i);
      default -> {
        return false;
      }
    }
    return true;
  }

  /** PTX ISA, "mapa". */
  private void mapToRank(Instruction i) {
    PtxType t = type(i);
    Expr rank = read(i, 2, PtxType.U32);
    if (MemoryLowering.space(i) == Space.SHARED) {
      Expr shared = read(i, 1, PtxType.U32);
      Expr mapped = Exprs.callWithBlock("exec/Cluster", "map", Kind.INT, shared, rank);
      write(i, 0, t, Values.adapt(mapped, PtxType.U32, t));
    } else {
      Expr address = read(i, 1, PtxType.B64);
      write(i, 0, t, Exprs.callWithBlock("exec/Cluster", "mapGeneric", Kind.LONG, address, rank));
    }
  }

  /** PTX ISA, "getctarank". */
  private void rankOf(Instruction i) {
    Expr rank =
        MemoryLowering.space(i) == Space.SHARED
            ? Exprs.callWithBlock("exec/Cluster", "rank", Kind.INT, read(i, 1, PtxType.U32))
            : Exprs.callWithBlock("exec/Cluster", "rankGeneric", Kind.INT, read(i, 1, PtxType.B64));
    write(i, 0, PtxType.U32, rank);
  }

  private void move(Instruction i) {
    PtxType t = type(i);
    if (i.operands().get(1) instanceof Operand.Vector from) {
      pack(i, t, from.elements());
    } else if (i.operands().get(0) instanceof Operand.Vector to) {
      unpack(i, t, to.elements());
    } else if (t == PtxType.PRED) {
      write(i, 0, t, at.predicate(i.operands().get(1), i.line()));
    } else {
      write(i, 0, t, read(i, 1, t));
    }
  }

  static PtxType bitsOf(int bits, int line) {
    return switch (bits) {
      case 8 -> PtxType.B8;
      case 16 -> PtxType.B16;
      case 32 -> PtxType.B32;
      case 64 -> PtxType.B64;
      default -> throw PtxException.invalid(line, "no type has " + bits + " bits");
    };
  }

  private void pack(Instruction i, PtxType t, List<Operand> from) {
    PtxType element = bitsOf(t.bits() / from.size(), i.line());
    PtxType whole = bitsOf(t.bits(), i.line());
    Expr value = null;
    for (int k = 0; k < from.size(); k++) {
      Expr part = at.read(from.get(k), element, i.line());
      if (Kind.of(whole) == Kind.LONG) {
        part = Exprs.zeroExtend(part);
      }
      if (k > 0) {
        part =
            new Expr.Apply(
                Opcodes.ISHL + part.kind().ordinal(),
                part.kind(),
                List.of(part, Exprs.integer(k * element.bits())));
      }
      value = value == null ? part : Exprs.bitwise(Opcodes.IOR, value, part);
    }
    write(i, 0, whole, value);
  }

  private void unpack(Instruction i, PtxType t, List<Operand> to) {
    PtxType element = bitsOf(t.bits() / to.size(), i.line());
    PtxType whole = bitsOf(t.bits(), i.line());
    // The value is copied, because an element may be the register that is unpacked.
    Expr value = at.copy(read(i, 1, whole), whole);
    List<Expr> parts = new ArrayList<>();
    for (int k = 0; k < to.size(); k++) {
      Expr part = value;
      if (k > 0) {
        part =
            new Expr.Apply(
                Opcodes.IUSHR + part.kind().ordinal(),
                part.kind(),
                List.of(part, Exprs.integer(k * element.bits())));
      }
      if (part.kind() == Kind.LONG) {
        part = Exprs.convert(Opcodes.L2I, Kind.INT, part);
      }
      parts.add(Exprs.narrow(part, element));
    }
    for (int k = 0; k < to.size(); k++) {
      at.write(to.get(k), element, parts.get(k), i.line());
    }
  }
}
