package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.callWithBlock;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Space;
import graft.remoting.software.ptx.Statement.Instruction;
import graft.remoting.software.ptx.Variable;
import java.util.List;

/** Loads, stores, fences and asynchronous copies (PTX ISA, "Data Movement", "membar / fence"). */
final class MemoryLowering extends InstructionGroup {
  MemoryLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "ld", "ldu" -> load(i);
      case "st" -> store(i);
      case "membar", "fence" -> {
        at.emit(new Node.Effect(call("exec/Access", "fence", null)));
      }
      case "prefetch", "prefetchu", "discard", "applypriority" -> {}
      case "createpolicy" -> write(i, 0, PtxType.B64, Exprs.number(0));
      case "cp" -> copyAsync(i);
      case "isspacep" -> isSpace(i);
      case "cvta" -> convertAddress(i);
      default -> {
        return false;
      }
    }
    return true;
  }

  static Space space(Instruction i) {
    for (String m : i.modifiers()) {
      Space s = Space.of(m);
      if (s != null) {
        return s;
      }
    }
    return Space.GENERIC;
  }

  private static int vector(Instruction i) {
    return i.has(".v2") ? 2 : i.has(".v4") ? 4 : i.has(".v8") ? 8 : 1;
  }

  private static boolean isVolatile(Instruction i) {
    return i.has(".volatile")
        || i.has(".relaxed")
        || i.has(".acquire")
        || i.has(".release")
        || i.has(".mmio");
  }

  /**
   * Returns the suffix of the accessor for a type; a value that is read is extended as the type
   * requires.
   */
  static String accessor(PtxType type) {
    return switch (type) {
      case U8, B8 -> "U8";
      case S8 -> "S8";
      case U16, B16, F16, BF16, E4M3X2, E5M2X2 -> "U16";
      case S16 -> "S16";
      case F32 -> "F32";
      case F64 -> "F64";
      default -> type.bits() == 64 ? "I64" : "I32";
    };
  }

  private void load(Instruction i) {
    PtxType type = type(i);
    int count = vector(i);
    if (isVolatile(i)) {
      at.block().setObservesOthers();
    }
    Operand.Address address = (Operand.Address) i.operands().get(1);
    List<Operand> targets =
        i.operands().get(0) instanceof Operand.Vector v
            ? v.elements()
            : List.of(i.operands().get(0));
    if (targets.size() != count) {
      throw PtxException.invalid(i.line(), "vector of another length than '" + i.mnemonic() + "'");
    }
    Expr.KernelParam param = kernelParam(address, i.line());
    if (param != null) {
      for (int k = 0; k < count; k++) {
        int offset = param.offset() + (int) address.offset() + k * type.bytes();
        at.write(targets.get(k), type, new Expr.KernelParam(offset, type), i.line());
      }
      return;
    }
    Expr base = checked(address, space(i), count * type.bytes(), i.line());
    if (count > 1) {
      // An element may overwrite the register that holds the address.
      base = at.copy(base, PtxType.B64);
    }
    String name = (isVolatile(i) ? "volatile" : "load") + accessor(type);
    for (int k = 0; k < count; k++) {
      Expr value =
          call("exec/Access", name, Kind.of(type), Exprs.add(base, (long) k * type.bytes()));
      at.write(targets.get(k), type, value, i.line());
    }
  }

  private void store(Instruction i) {
    PtxType type = type(i);
    int count = vector(i);
    if (i.has(".bulk") || i.has(".multimem")) {
      throw unsupported(i);
    }
    Operand.Address address = (Operand.Address) i.operands().get(0);
    List<Operand> values =
        i.operands().get(1) instanceof Operand.Vector v
            ? v.elements()
            : List.of(i.operands().get(1));
    if (values.size() != count) {
      throw PtxException.invalid(i.line(), "vector of another length than '" + i.mnemonic() + "'");
    }
    Expr base = checked(address, space(i), count * type.bytes(), i.line());
    if (count > 1) {
      base = at.copy(base, PtxType.B64);
    }
    String name = (isVolatile(i) ? "storeVolatile" : "store") + storeWidth(type);
    for (int k = 0; k < count; k++) {
      at.emit(
          new Node.Effect(
              call(
                  "exec/Access",
                  name,
                  null,
                  Exprs.add(base, (long) k * type.bytes()),
                  at.read(values.get(k), type, i.line()))));
    }
    if (i.has(".async")) {
      completeAt(i, 2, count * type.bytes());
    }
  }

  /** Reports the arrival of bytes to an mbarrier (.mbarrier::complete_tx::bytes). */
  private void completeAt(Instruction i, int operand, int bytes) {
    Expr barrier = checked((Operand.Address) i.operands().get(operand), space(i), 8, i.line());
    at.emit(new Node.Effect(call("exec/Mbarrier", "expect", null, barrier, integer(-bytes))));
  }

  private static String storeWidth(PtxType type) {
    return type.isFloat()
            && !type.isHalf()
            && Kind.of(type) != Kind.INT
            && Kind.of(type) != Kind.LONG
        ? (type == PtxType.F32 ? "F32" : "F64")
        : "I" + type.bits();
  }

  private Expr.KernelParam kernelParam(Operand.Address address, int line) {
    if (address.base() instanceof Operand.Name n
        && n.scope().find(n.name()) instanceof Variable v
        && v.space() == Space.PARAM
        && at.place(v, line) instanceof Expr.KernelParam p) {
      if (address.offset() < 0 || address.offset() >= v.bytes()) {
        throw PtxException.invalid(line, "read outside parameter '" + v.name() + "'");
      }
      return p;
    }
    return null;
  }

  /** Returns the real address of an address operand, after a check that {@code bytes} lie there. */
  Expr checked(Operand.Address address, Space space, int bytes, int line) {
    Expr value;
    if (address.base() == null) {
      value = Exprs.number(address.offset());
    } else if (address.base() instanceof Operand.Name n
        && n.scope().find(n.name()) instanceof Variable v
        && v.space() != Space.REG) {
      if (v.space() == Space.SHARED) {
        return sharedAccess(at.sharedAddress(v, address.offset()), bytes);
      }
      value = at.address(n, address.offset(), line);
      if (v.space() == Space.LOCAL || v.space() == Space.PARAM) {
        long size = v.bytes();
        if (address.offset() >= 0 && address.offset() <= size - bytes) {
          return value;
        }
      }
    } else if (space == Space.SHARED) {
      return sharedAccess(
          Exprs.add(at.read(address.base(), PtxType.U32, line), address.offset()), bytes);
    } else {
      value = Exprs.add(at.read(address.base(), PtxType.B64, line), address.offset());
    }
    return switch (space) {
      case SHARED ->
          sharedAccess(Exprs.convert(org.objectweb.asm.Opcodes.L2I, Kind.INT, value), bytes);
      case GLOBAL, CONST ->
          callWithBlock("exec/Access", "global", Kind.LONG, value, integer(bytes));
      case LOCAL ->
          callWithBlock(
              "exec/Access", "local", Kind.LONG, value, integer(bytes), new Expr.ThreadIndex());
      default ->
          callWithBlock(
              "exec/Access", "generic", Kind.LONG, value, integer(bytes), new Expr.ThreadIndex());
    };
  }

  /** Returns the generic address of an address operand, unchecked. */
  Expr generic(Operand.Address address, Space space, int line) {
    boolean variable =
        address.base() instanceof Operand.Name n
            && n.scope().find(n.name()) instanceof Variable v
            && v.space() != Space.REG;
    boolean shared =
        space == Space.SHARED
            || variable
                && ((Operand.Name) address.base())
                        .scope()
                        .find(((Operand.Name) address.base()).name())
                    instanceof Variable v
                && v.space() == Space.SHARED;
    Expr value =
        address.base() == null
            ? Exprs.number(address.offset())
            : Exprs.add(at.read(address.base(), PtxType.B64, line), address.offset());
    return shared ? callWithBlock("exec/Cluster", "generic", Kind.LONG, value) : value;
  }

  private static Expr sharedAccess(Expr offset, int bytes) {
    return callWithBlock("exec/Access", "shared", Kind.LONG, offset, integer(bytes));
  }

  /** cp.async copies immediately, which its rules allow; waiting for it then takes no time. */
  private void copyAsync(Instruction i) {
    if (!i.has(".async") || i.has(".bulk") || i.has(".mbarrier")) {
      throw unsupported(i);
    }
    if (i.has(".commit_group") || i.has(".wait_group") || i.has(".wait_all")) {
      return;
    }
    int size = (int) ((Operand.Immediate) i.operands().get(2)).bits();
    if (size != 4 && size != 8 && size != 16) {
      throw PtxException.invalid(i.line(), "cp.async copies 4, 8 or 16 bytes");
    }
    Expr to = checked((Operand.Address) i.operands().get(0), Space.SHARED, size, i.line());
    Expr from;
    Expr bytes = integer(size);
    Operand.Address source = (Operand.Address) i.operands().get(1);
    if (i.operands().size() > 3 && !i.has(".L2::cache_hint")) {
      if (i.operands().get(3) instanceof Operand.Name n
          && n.scope().find(n.name()) instanceof Variable v
          && v.type() == PtxType.PRED) {
        bytes = new Expr.Select(at.predicate(n, i.line()), integer(0), integer(size));
      } else {
        bytes = read(i, 3, PtxType.U32);
      }
      from = at.read(source.base(), PtxType.B64, i.line());
      at.emit(
          new Node.Effect(
              callWithBlock(
                  "exec/Access",
                  "copyPart",
                  null,
                  to,
                  Exprs.add(from, source.offset()),
                  bytes,
                  integer(size))));
      return;
    }
    from = checked(source, Space.GLOBAL, size, i.line());
    at.emit(new Node.Effect(call("exec/Access", "copy", null, to, from, bytes)));
  }

  private void isSpace(Instruction i) {
    String which =
        switch (space(i)) {
          case GLOBAL -> "isGlobal";
          case SHARED -> "isShared";
          case LOCAL -> "isLocal";
          case CONST -> "isConst";
          default -> "isParam";
        };
    write(
        i,
        0,
        PtxType.PRED,
        callWithBlock(
            i.has(".shared::cluster") ? "exec/Cluster" : "exec/Access",
            which,
            Kind.INT,
            read(i, 1, PtxType.B64)));
  }

  /**
   * Only shared addresses differ from generic ones, by the address of the block's shared memory.
   */
  private void convertAddress(Instruction i) {
    Expr value = read(i, 1, PtxType.B64);
    if (i.has(".shared::cluster")) {
      value = callWithBlock("exec/Cluster", i.has(".to") ? "shared" : "generic", Kind.LONG, value);
    } else if (space(i) == Space.SHARED) {
      Expr base = new Expr.BlockField("sharedBase", Kind.LONG);
      value =
          Exprs.arithmetic(
              i.has(".to") ? org.objectweb.asm.Opcodes.ISUB : org.objectweb.asm.Opcodes.IADD,
              value,
              base);
    }
    write(i, 0, PtxType.B64, value);
  }
}
