package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.analysis.SpinLoops;
import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Register;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.ptx.Function;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.Operand.Immediate;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Space;
import graft.remoting.software.ptx.Statement;
import graft.remoting.software.ptx.Statement.Instruction;
import graft.remoting.software.ptx.Variable;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Opcodes;

/**
 * Lowers one function, including the functions that are inlined into it. {@link InstructionGroup}s
 * lower the instructions; this class resolves operands and collects nodes for them.
 */
final class FunctionLowering {
  private static final int DEEPEST_INLINING = 64;

  private final Program program;
  private final Function function;
  private final FunctionIr ir;
  private final List<InstructionGroup> groups;
  private final ControlLowering control;
  private BasicBlock block;
  private List<Node> nodes;
  private Register carry;
  private Activation activation;

  /** The halves of a register of 128 bits. */
  record Pair(Register low, Register high) {}

  FunctionLowering(Program program, Function function) {
    this.program = program;
    this.function = function;
    this.ir = new FunctionIr(function.name(), function.entry(), function.line());
    this.control = new ControlLowering(this);
    this.groups =
        List.of(
            new WideLowering(this),
            new MbarrierLowering(this),
            new MemoryLowering(this),
            new IntegerLowering(this),
            new FloatLowering(this),
            new LogicLowering(this),
            new MoveLowering(this),
            new VideoLowering(this),
            new CompareLowering(this),
            new ConvertLowering(this),
            control,
            new SyncLowering(this),
            new AtomicLowering(this),
            new MatrixLowering(this),
            new TextureLowering(this));
  }

  FunctionIr lower() {
    activation = new Activation(function, null);
    block = ir.start();
    nodes = block.nodes();
    if (function.entry()) {
      for (int i = 0; i < function.params().size(); i++) {
        activation.places.put(
            function.params().get(i),
            new Expr.KernelParam(
                ParameterLayout.kernelParamOffset(function.params(), i), PtxType.B64));
      }
    } else {
      ParameterLayout.layOut(
          function.returns(), function.params(), Expr.ArgumentAddress::new, activation);
    }
    body(function);
    if (block.end() == null) {
      block.setEnd(function.entry() ? new Terminator.Exit() : new Terminator.Return());
    }
    ir.order();
    if (function.entry()) {
      SpinLoops.addYields(ir);
    }
    return ir;
  }

  private void body(Function f) {
    control.layOutCalls(f);
    for (Statement s : f.body()) {
      if (s instanceof Statement.Label label) {
        BasicBlock target = blockOf(label);
        if (block.end() == null) {
          block.setEnd(new Terminator.Jump(target));
        }
        continueAt(target);
      } else if (s instanceof Statement.Declaration d) {
        declare(d.variable());
      } else if (s instanceof Instruction i) {
        if (block.end() != null) {
          continueAt(new BasicBlock()); // code after a jump that no label reaches
        }
        instruction(i);
      }
    }
  }

  /**
   * Inserts the body of a function in place of its call; the function's parameters lie in this
   * frame.
   */
  void inline(Function f, int argumentOffset, int line) {
    Activation inner = new Activation(f, activation);
    if (inner.depth() > DEEPEST_INLINING) {
      throw PtxException.unsupported(line, "functions with barriers nested this deeply");
    }
    ParameterLayout.layOut(
        f.returns(), f.params(), o -> new Expr.FrameAddress(argumentOffset + o), inner);
    inner.after = new BasicBlock();
    activation = inner;
    body(f);
    if (block.end() == null) {
      block.setEnd(new Terminator.Jump(inner.after));
    }
    activation = inner.caller;
    continueAt(inner.after);
  }

  private void declare(Variable v) {
    if (v.space() == Space.LOCAL) {
      activation.places.put(
          v,
          new Expr.FrameAddress(
              ir.allocateFrame(v.bytes(), Math.max(1, Math.min(v.align(), 16)), v.line())));
    }
    // The call places the parameters of calls, and the program places shared variables.
  }

  private void instruction(Instruction i) {
    try {
      for (InstructionGroup group : groups) {
        if (group.endsBlock(i)) {
          control.guarded(i, () -> group.lower(i));
          return;
        }
      }
      if (i.guard() == null) {
        lowerPlain(i);
        return;
      }
      List<Node> outer = nodes;
      List<Node> inner = new ArrayList<>();
      nodes = inner;
      lowerPlain(i);
      nodes = outer;
      emit(new Node.Guarded(predicate(i.guard(), i.line()), i.guardNegated(), inner));
    } catch (IndexOutOfBoundsException | ClassCastException e) {
      throw PtxException.invalid(i.line(), "wrong operands for '" + i.mnemonic() + "'");
    }
  }

  private void lowerPlain(Instruction i) {
    for (InstructionGroup group : groups) {
      if (group.lower(i)) {
        return;
      }
    }
    throw PtxException.unsupported(i.line(), "instruction '" + i.mnemonic() + "'");
  }

  // ---- blocks and nodes

  Program program() {
    return program;
  }

  FunctionIr ir() {
    return ir;
  }

  Activation activation() {
    return activation;
  }

  BasicBlock block() {
    return block;
  }

  void continueAt(BasicBlock next) {
    block = next;
    nodes = next.nodes();
  }

  void end(Terminator terminator) {
    block.setEnd(terminator);
  }

  BasicBlock blockOf(Statement.Label label) {
    return activation.labels.computeIfAbsent(label, l -> new BasicBlock());
  }

  void emit(Node node) {
    nodes.add(node);
  }

  /** Returns a register that has no name in the PTX. */
  Register temporary(PtxType type) {
    return ir.register("temporary", type);
  }

  /** Computes a value once, for several uses. */
  Expr once(Expr value, PtxType type) {
    if (value instanceof Expr.Const || value instanceof Expr.Read) {
      return value;
    }
    Register t = temporary(type);
    emit(new Node.Assign(t, value));
    return new Expr.Read(t);
  }

  /** Returns a copy that later assignments to the operands do not change. */
  Expr copy(Expr value, PtxType type) {
    if (value instanceof Expr.Const) {
      return value;
    }
    Register t = temporary(type);
    emit(new Node.Assign(t, value));
    return new Expr.Read(t);
  }

  /**
   * The condition code register's carry flag (PTX ISA, "Extended-Precision Integer Arithmetic").
   */
  Register carry() {
    if (carry == null) {
      carry = ir.register("%cc", PtxType.PRED);
    }
    return carry;
  }

  // ---- operands

  Register register(Variable v) {
    if (v.vector() != 1) {
      throw PtxException.unsupported(v.line(), "vector register '" + v.name() + "'");
    }
    if (v.type().bits() > 64) {
      throw PtxException.unsupported(
          v.line(), "this use of '" + v.name() + "', a register of 128 bits");
    }
    return activation.registers.computeIfAbsent(v, x -> ir.register(x.name(), x.type()));
  }

  /** The register of 128 bits that an operand names. */
  Pair pair(Operand operand, int line) {
    if (operand instanceof Operand.Name n
        && n.scope().find(n.name()) instanceof Variable v
        && v.space() == Space.REG
        && v.type() == PtxType.B128) {
      return activation.pairs.computeIfAbsent(
          v, x -> new Pair(ir.register(x.name(), PtxType.B64), ir.register(x.name(), PtxType.B64)));
    }
    throw PtxException.invalid(
        line, "expected a register of 128 bits but found " + describe(operand));
  }

  /** The register that an operand names. */
  Register register(Operand operand, int line) {
    if (operand instanceof Operand.Name n
        && n.scope().find(n.name()) instanceof Variable v
        && v.space() == Space.REG) {
      return register(v);
    }
    throw PtxException.invalid(line, "expected a register but found " + describe(operand));
  }

  static String describe(Operand operand) {
    return operand instanceof Operand.Name n ? "'" + n.name() + "'" : "another operand";
  }

  /** A predicate operand as 0 or 1. */
  Expr predicate(Operand operand, int line) {
    if (operand instanceof Operand.Not not) {
      return Exprs.not(predicate(not.operand(), line));
    }
    return read(operand, PtxType.PRED, line);
  }

  /** The value of an operand as a type of at most 64 bits. */
  Expr read(Operand operand, PtxType type, int line) {
    if (operand instanceof Immediate immediate) {
      return Values.constant(immediate, type);
    }
    if (operand instanceof Operand.Name n) {
      Object meaning = n.scope().find(n.name());
      if (meaning instanceof Variable v && v.space() == Space.REG) {
        Register r = register(v);
        return Values.adapt(new Expr.Read(r), r.type(), type);
      }
      if (meaning == null && (n.name().startsWith("%") || n.name().equals("WARP_SZ"))) {
        return special(n.name(), type, line);
      }
      return Values.adapt(address(n, 0, line), PtxType.B64, type);
    }
    if (operand instanceof Operand.Sum sum) {
      return Values.adapt(address(sum.base(), sum.offset(), line), PtxType.B64, type);
    }
    if (operand instanceof Operand.Component c) {
      return special(c.name() + c.part(), type, line);
    }
    throw PtxException.invalid(line, "unexpected operand");
  }

  private Expr special(String name, PtxType type, int line) {
    SpecialRegisters.Value value = SpecialRegisters.read(name, program);
    if (value == null) {
      if (name.indexOf('.') < 0 && !name.startsWith("%envreg") && !name.startsWith("%pm")) {
        throw PtxException.invalid(line, "'" + name + "' is not declared");
      }
      throw PtxException.unsupported(line, "special register '" + name + "'");
    }
    return Values.adapt(value.expr(), value.type(), type);
  }

  /**
   * Returns the address of a variable or function; a shared variable has an offset into shared
   * memory.
   */
  Expr address(Operand.Name name, long offset, int line) {
    Object meaning = name.scope().find(name.name());
    if (meaning instanceof Function f) {
      program.useSymbol(program.module().aliases().getOrDefault(f.name(), f.name()));
      return new Expr.SymbolAddress(
          program.module().aliases().getOrDefault(f.name(), f.name()), offset);
    }
    if (!(meaning instanceof Variable v)) {
      throw PtxException.invalid(line, "'" + name.name() + "' is not declared");
    }
    switch (v.space()) {
      case SHARED -> {
        return Exprs.convert(Opcodes.I2L, Kind.LONG, sharedAddress(v, offset));
      }
      case GLOBAL, CONST -> {
        program.useSymbol(v.name());
        return new Expr.SymbolAddress(v.name(), offset);
      }
      case LOCAL, PARAM -> {
        Expr place = place(v, line);
        if (place instanceof Expr.KernelParam p) {
          return Exprs.add(new Expr.BlockField("parameters", Kind.LONG), p.offset() + offset);
        }
        return shift(place, offset);
      }
      default -> throw PtxException.invalid(line, "'" + v.name() + "' has no address");
    }
  }

  private static Expr shift(Expr place, long offset) {
    if (place instanceof Expr.FrameAddress f) {
      return new Expr.FrameAddress((int) (f.offset() + offset));
    }
    if (place instanceof Expr.ArgumentAddress a) {
      return new Expr.ArgumentAddress((int) (a.offset() + offset));
    }
    throw new IllegalStateException("no place: " + place);
  }

  /** Returns the address of a parameter or local variable. */
  Expr place(Variable v, int line) {
    Expr place = activation.places.get(v);
    if (place == null) {
      throw PtxException.invalid(line, "'" + v.name() + "' belongs to no call");
    }
    return place;
  }

  /** Offset into shared memory. */
  Expr sharedAddress(Variable v, long offset) {
    if (v.elements() == 0) {
      program.alignDynamicShared(v.align());
      return Exprs.add(new Expr.BlockField("dynamicShared", Kind.INT), offset);
    }
    return integer((int) (program.sharedOffset(v) + offset));
  }

  /** Writes a value of a type to the register that an operand names, or drops it. */
  void write(Operand target, PtxType type, Expr value, int line) {
    if (target instanceof Operand.Sink) {
      return;
    }
    Register r = register(target, line);
    emit(new Node.Assign(r, Values.fit(value, type, r.type())));
  }
}
