package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.call;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.ArrayList;
import java.util.List;

/**
 * PTX ISA, "atom" and "red". Every atomic is sequentially consistent over the whole machine, which
 * is stronger than any scope and order that PTX has.
 */
final class AtomicLowering extends InstructionGroup {
  private static final List<String> OPERATIONS =
      List.of(".add", ".and", ".or", ".xor", ".min", ".max", ".inc", ".dec", ".exch", ".cas");

  private final MemoryLowering memory;

  AtomicLowering(FunctionLowering at) {
    super(at);
    memory = new MemoryLowering(at);
  }

  @Override
  boolean lower(Instruction i) {
    if (!i.opcode().equals("atom") && !i.opcode().equals("red")) {
      return false;
    }
    if (i.has(".async") || i.has(".multimem")) {
      throw unsupported(i);
    }
    boolean wanted = i.opcode().equals("atom");
    if (wanted) {
      at.block().setObservesOthers();
    }
    PtxType t = type(i);
    String operation =
        i.modifiers().stream()
            .filter(OPERATIONS::contains)
            .findFirst()
            .orElseThrow(() -> unsupported(i));
    int count = i.has(".v2") ? 2 : i.has(".v4") ? 4 : i.has(".v8") ? 8 : 1;
    int first = wanted ? 1 : 0;
    Expr address =
        memory.checked(
            (Operand.Address) i.operands().get(first),
            MemoryLowering.space(i),
            count * t.bytes(),
            i.line());
    String name = operation.substring(1) + suffix(i, operation, t);
    if (count > 1) {
      vector(i, t, name, count, address, first);
      return true;
    }
    List<Expr> arguments = new ArrayList<>();
    arguments.add(address);
    for (int k = first + 1; k < i.operands().size(); k++) {
      if (k - first <= (operation.equals(".cas") ? 2 : 1)) {
        arguments.add(read(i, k, t)); // a cache policy may follow
      }
    }
    Expr value = call("exec/Atomics", name, Kind.of(t), arguments.toArray(Expr[]::new));
    if (wanted && !isSink(i.operands().get(0))) {
      write(i, 0, t, value);
    } else {
      at.emit(new Node.Effect(value));
    }
    return true;
  }

  private void vector(Instruction i, PtxType t, String name, int count, Expr address, int first) {
    Expr base = at.copy(address, PtxType.B64);
    List<Operand> values = ((Operand.Vector) i.operands().get(first + 1)).elements();
    if (values.size() != count) {
      throw PtxException.invalid(i.line(), "vector of another length than '" + i.mnemonic() + "'");
    }
    for (int k = 0; k < count; k++) {
      Expr value =
          call(
              "exec/Atomics",
              name,
              Kind.of(t),
              Exprs.add(base, (long) k * t.bytes()),
              at.read(values.get(k), t, i.line()));
      if (first == 1) {
        at.write(((Operand.Vector) i.operands().get(0)).elements().get(k), t, value, i.line());
      } else {
        at.emit(new Node.Effect(value));
      }
    }
  }

  /**
   * Returns the suffix for the bits if the operation does not depend on the sign, else for the
   * type.
   */
  private static String suffix(Instruction i, String operation, PtxType t) {
    switch (operation) {
      case ".and", ".or", ".xor", ".exch", ".cas" -> {
        if (t.isFloat() && (t == PtxType.F32 || t == PtxType.F64)) {
          throw unsupported(i);
        }
        return "B" + t.bits();
      }
      case ".add" -> {
        return t.isFloat() ? t.name() : "B" + t.bits();
      }
      case ".inc", ".dec" -> {
        return "U32";
      }
      default -> {
        return t.name();
      }
    }
  }
}
