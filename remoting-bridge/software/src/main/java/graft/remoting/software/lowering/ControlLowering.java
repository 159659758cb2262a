package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.callWithBlock;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.ptx.Function;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Space;
import graft.remoting.software.ptx.Statement;
import graft.remoting.software.ptx.Statement.Instruction;
import graft.remoting.software.ptx.Variable;
import java.util.ArrayList;
import java.util.List;

/** PTX ISA, "Control Flow Instructions" and "Miscellaneous Instructions". */
final class ControlLowering extends InstructionGroup {
  ControlLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean endsBlock(Instruction i) {
    return switch (i.opcode()) {
      case "bra", "brx", "call", "ret", "exit" -> true;
      default -> false;
    };
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "bra" -> at.end(new Terminator.Jump(target(i.operands().get(0), i.line())));
      case "brx" -> branchByIndex(i);
      case "call" -> call(i);
      case "ret" -> leave();
      case "exit" -> at.end(new Terminator.Exit());
      case "trap" ->
          at.emit(
              new Node.Effect(
                  callWithBlock("exec/DeviceCalls", "trap", null, new Expr.ThreadIndex())));
      case "brkpt" ->
          at.emit(
              new Node.Effect(
                  callWithBlock("exec/DeviceCalls", "breakpoint", null, new Expr.ThreadIndex())));
      case "nanosleep" -> {
        at.block().setObservesOthers();
        at.emit(
            new Node.Effect(
                callWithBlock(
                    "exec/Clock",
                    "nanosleep",
                    null,
                    new Expr.ThreadIndex(),
                    read(i, 0, PtxType.U32))));
      }
      case "pmevent", "griddepcontrol", "setmaxnreg" -> {}
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Runs {@code action} in a block of its own if the instruction has a guard. */
  void guarded(Instruction i, Runnable action) {
    if (i.guard() == null) {
      action.run();
      return;
    }
    Expr condition = at.predicate(i.guard(), i.line());
    if (i.guardNegated()) {
      condition = Exprs.not(condition);
    }
    BasicBlock after = new BasicBlock();
    if (i.opcode().equals("bra")) {
      at.end(new Terminator.Branch(condition, target(i.operands().get(0), i.line()), after));
      at.continueAt(after);
      return;
    }
    BasicBlock body = new BasicBlock();
    at.end(new Terminator.Branch(condition, body, after));
    at.continueAt(body);
    action.run();
    if (at.block().end() == null) {
      at.end(new Terminator.Jump(after));
    }
    at.continueAt(after);
  }

  private BasicBlock target(Operand operand, int line) {
    if (operand instanceof Operand.Name n
        && n.scope().find(n.name()) instanceof Statement.Label label) {
      return at.blockOf(label);
    }
    throw PtxException.invalid(
        line, "branch to " + FunctionLowering.describe(operand) + ", which is no label");
  }

  private void branchByIndex(Instruction i) {
    Operand.Name list = (Operand.Name) i.operands().get(1);
    if (!(list.scope().find(list.name()) instanceof Statement.Targets targets)) {
      throw PtxException.invalid(i.line(), "'" + list.name() + "' is no .branchtargets list");
    }
    List<BasicBlock> blocks = new ArrayList<>();
    for (Operand o : targets.names()) {
      blocks.add(target(o, i.line()));
    }
    at.end(new Terminator.Switch(read(i, 0, PtxType.U32), blocks));
  }

  private void leave() {
    BasicBlock after = at.activation().after;
    if (after != null) {
      at.end(new Terminator.Jump(after));
    } else {
      at.end(at.ir().isEntry() ? new Terminator.Exit() : new Terminator.Return());
    }
  }

  /** The parts of a call: {@code call (results), target, (parameters), prototype}. */
  private record Parts(
      List<Operand> results, Operand target, List<Operand> parameters, Operand prototype) {
    static Parts of(Instruction i) {
      List<Operand> o = i.operands();
      int k = 0;
      List<Operand> results = List.of();
      if (o.get(0) instanceof Operand.Arguments a) {
        results = a.elements();
        k++;
      }
      Operand target = o.get(k++);
      List<Operand> parameters = List.of();
      if (k < o.size() && o.get(k) instanceof Operand.Arguments a) {
        parameters = a.elements();
        k++;
      }
      return new Parts(results, target, parameters, k < o.size() ? o.get(k) : null);
    }
  }

  /** Returns the param variable of an argument, or null for a register or number. */
  private static Variable variable(Operand argument) {
    return argument instanceof Operand.Name n
            && n.scope().find(n.name()) instanceof Variable v
            && v.space() == Space.PARAM
        ? v
        : null;
  }

  private static int slotBytes(Operand argument) {
    Variable v = variable(argument);
    return v == null ? 16 : ParameterLayout.slotBytes(v);
  }

  /**
   * Assigns the parameters of all calls of a body their offsets in the frame. Calls do not overlap,
   * so that all share one area.
   */
  void layOutCalls(Function f) {
    long most = 0;
    List<Instruction> calls = new ArrayList<>();
    for (Statement s : f.body()) {
      if (s instanceof Instruction i && i.opcode().equals("call") && !i.operands().isEmpty()) {
        calls.add(i);
        Parts parts = Parts.of(i);
        long size = 0;
        for (Operand o : parts.results()) {
          size += slotBytes(o);
        }
        for (Operand o : parts.parameters()) {
          size += slotBytes(o);
        }
        most = Math.max(most, size);
      }
    }
    if (calls.isEmpty()) {
      return;
    }
    int area = at.ir().allocateFrame(most, 16, f.line());
    areas.put(at.activation(), area);
    for (Instruction i : calls) {
      int offset = area;
      Parts parts = Parts.of(i);
      List<Operand> all = new ArrayList<>(parts.results());
      all.addAll(parts.parameters());
      for (Operand o : all) {
        Variable v = variable(o);
        if (v != null) {
          at.activation().places.put(v, new Expr.FrameAddress(offset));
        }
        offset += slotBytes(o);
      }
    }
  }

  private final java.util.Map<Activation, Integer> areas = new java.util.IdentityHashMap<>();

  private void call(Instruction i) {
    Parts parts = Parts.of(i);
    int area = areas.get(at.activation());
    List<Operand> all = new ArrayList<>(parts.results());
    all.addAll(parts.parameters());
    int offset = area;
    for (int k = 0; k < all.size(); k++) {
      if (variable(all.get(k)) == null && k >= parts.results().size()) {
        throw PtxException.unsupported(i.line(), "register as a parameter of a call");
      }
      offset += slotBytes(all.get(k));
    }
    if (parts.target() instanceof Operand.Name n
        && n.scope().find(n.name()) instanceof Function f) {
      callFunction(i, f, area);
      return;
    }
    at.ir().setCallsByAddress();
    Expr target = at.read(parts.target(), PtxType.B64, i.line());
    at.emit(new Node.Call(null, target, area));
  }

  private void callFunction(Instruction i, Function f, int area) {
    Program program = at.program();
    String name = program.module().aliases().getOrDefault(f.name(), f.name());
    Function callee = program.module().functions().get(name);
    if (callee == null || callee.body() == null) {
      callSystem(i, name, area);
      return;
    }
    if (program.sync().isInlined(name)) {
      at.inline(callee, area, i.line());
      return;
    }
    at.ir().callees().add(name);
    at.emit(new Node.Call(name, null, area));
  }

  /** The functions that CUDA's device runtime provides. */
  private void callSystem(Instruction i, String name, int area) {
    switch (name) {
      case "vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional" -> {
        String method = name.equals("__assertfail") ? "assertFail" : name;
        at.emit(
            new Node.Effect(
                callWithBlock(
                    "exec/DeviceCalls",
                    method,
                    null,
                    new Expr.FrameAddress(area),
                    new Expr.ThreadIndex())));
      }
      default -> {
        if (name.startsWith("cuda") || name.startsWith("__cudaCDP")) {
          throw PtxException.unsupported(i.line(), "dynamic parallelism (call of '" + name + "')");
        }
        throw PtxException.invalid(i.line(), "function '" + name + "' is called but not defined");
      }
    }
  }
}
