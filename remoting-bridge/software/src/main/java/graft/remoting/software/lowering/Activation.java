package graft.remoting.software.lowering;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Register;
import graft.remoting.software.ptx.Function;
import graft.remoting.software.ptx.Statement;
import graft.remoting.software.ptx.Variable;
import java.util.IdentityHashMap;
import java.util.Map;

/** The names in a function's body. A function that is inlined has one activation for each call. */
final class Activation {
  final Function function;
  final Activation caller;
  final Map<Variable, Register> registers = new IdentityHashMap<>();
  final Map<Variable, FunctionLowering.Pair> pairs = new IdentityHashMap<>();
  final Map<Statement.Label, BasicBlock> labels = new IdentityHashMap<>();
  final Map<Variable, Expr> places = new IdentityHashMap<>();
  BasicBlock after;

  Activation(Function function, Activation caller) {
    this.function = function;
    this.caller = caller;
  }

  int depth() {
    return caller == null ? 0 : caller.depth() + 1;
  }
}
