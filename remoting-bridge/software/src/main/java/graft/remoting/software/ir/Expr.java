package graft.remoting.software.ir;

import graft.remoting.software.ptx.PtxType;
import java.util.List;
import java.util.function.Consumer;

/** A value, computed without control flow. */
public sealed interface Expr {

  /** Returns how the result is represented; null for a call without a result. */
  Kind kind();

  /** The value of a register. */
  record Read(Register register) implements Expr {
    @Override
    public Kind kind() {
      return register.kind();
    }
  }

  /** A constant; {@code bits} are the raw bits of its kind. */
  record Const(Kind kind, long bits) implements Expr {}

  /** One JVM instruction on its operands. */
  record Apply(int opcode, Kind kind, List<Expr> arguments) implements Expr {}

  /** How two values are compared. Floating-point comparisons are false when an operand is NaN. */
  enum Condition {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE
  }

  /** 1 if the comparison holds, else 0; reversed if {@code negated}. */
  record Compare(Condition condition, boolean negated, Expr left, Expr right) implements Expr {
    @Override
    public Kind kind() {
      return Kind.INT;
    }
  }

  /** {@code condition != 0 ? yes : no}. */
  record Select(Expr condition, Expr yes, Expr no) implements Expr {
    @Override
    public Kind kind() {
      return yes.kind();
    }
  }

  /**
   * A call of a static Java method. Its descriptor follows from the kinds of the arguments and the
   * result; with {@code block} the running thread block is the first argument.
   */
  record Invoke(String owner, String name, boolean block, Kind kind, List<Expr> arguments)
      implements Expr {}

  /** A public int or long field of the running thread block. */
  record BlockField(String name, Kind kind) implements Expr {}

  /** This thread's element of a public int array of the running thread block. */
  record BlockElement(String array, Kind kind) implements Expr {}

  /** Index of the running thread in its block. */
  record ThreadIndex() implements Expr {
    @Override
    public Kind kind() {
      return Kind.INT;
    }
  }

  /** The kernel parameter bytes at an offset, read as a type of at most 64 bits. */
  record KernelParam(int offset, PtxType type) implements Expr {
    @Override
    public Kind kind() {
      return Kind.of(type);
    }
  }

  /** Address of this function's stack frame plus an offset. */
  record FrameAddress(int offset) implements Expr {
    @Override
    public Kind kind() {
      return Kind.LONG;
    }
  }

  /**
   * Address of the results and parameters in the frame of this function's caller, plus an offset.
   */
  record ArgumentAddress(int offset) implements Expr {
    @Override
    public Kind kind() {
      return Kind.LONG;
    }
  }

  /** Address of a module variable plus an offset; known when the module is loaded. */
  record SymbolAddress(String symbol, long offset) implements Expr {
    @Override
    public Kind kind() {
      return Kind.LONG;
    }
  }

  /** Calls {@code action} for every register that an expression reads. */
  static void reads(Expr expr, Consumer<Register> action) {
    if (expr instanceof Read read) {
      action.accept(read.register());
    } else if (expr instanceof Apply apply) {
      apply.arguments().forEach(e -> reads(e, action));
    } else if (expr instanceof Compare compare) {
      reads(compare.left(), action);
      reads(compare.right(), action);
    } else if (expr instanceof Select select) {
      reads(select.condition(), action);
      reads(select.yes(), action);
      reads(select.no(), action);
    } else if (expr instanceof Invoke invoke) {
      invoke.arguments().forEach(e -> reads(e, action));
    }
  }
}
