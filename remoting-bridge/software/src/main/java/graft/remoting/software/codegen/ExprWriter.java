package graft.remoting.software.codegen;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Register;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Writes expressions and nodes into a method, and allocates its local variables. */
final class ExprWriter {
  static final String BLOCK = "graft/remoting/software/exec/ThreadBlock";
  private static final String BLOCK_DESCRIPTOR = "L" + BLOCK + ";";

  /** Local variable 0 of every generated method is the thread block, 1 the thread's index. */
  static final int BLOCK_LOCAL = 0;

  static final int THREAD_LOCAL = 1;

  private final MethodVisitor out;
  private final CallWriter calls;
  private final Map<Register, Integer> locals = new HashMap<>();
  private final Map<Expr, Integer> hoisted = new LinkedHashMap<>();
  private final Map<String, Integer> symbols;
  private int nextLocal;
  private GlobalAccesses accesses;
  private int frameLocal = -1;
  private int argumentLocal = -1;

  /** Writes calls of functions of the module. */
  interface CallWriter {
    void write(Node.Call call);
  }

  ExprWriter(MethodVisitor out, int firstLocal, Map<String, Integer> symbols, CallWriter calls) {
    this.out = out;
    this.nextLocal = firstLocal;
    this.symbols = symbols;
    this.calls = calls;
  }

  int newLocal(Kind kind) {
    int local = nextLocal;
    nextLocal += kind.isWide() ? 2 : 1;
    return local;
  }

  /** Replaces the calls that check accesses to global memory with other checks. */
  void setAccesses(GlobalAccesses accesses) {
    this.accesses = accesses;
  }

  void setFrameLocal(int local) {
    frameLocal = local;
  }

  void setArgumentLocal(int local) {
    argumentLocal = local;
  }

  // ---- values that do not change while the method runs

  /**
   * Collects the values that {@link #writeHoisted} must store in local variables before the loop
   * over threads.
   */
  void collect(Node node) {
    if (node instanceof Node.Assign assign) {
      collect(assign.value());
    } else if (node instanceof Node.Effect effect) {
      collect(effect.value());
    } else if (node instanceof Node.Guarded guarded) {
      collect(guarded.condition());
      guarded.body().forEach(this::collect);
    } else if (node instanceof Node.Call call && call.target() != null) {
      collect(call.target());
    }
  }

  void collect(Expr expr) {
    if (expr instanceof Expr.KernelParam) {
      hoisted.put(expr, -1);
    } else if (expr instanceof Expr.SymbolAddress s) {
      hoisted.put(new Expr.SymbolAddress(s.symbol(), 0), -1);
    } else if (expr instanceof Expr.Apply apply) {
      apply.arguments().forEach(this::collect);
    } else if (expr instanceof Expr.Invoke invoke) {
      invoke.arguments().forEach(this::collect);
      if (accesses != null) {
        accesses.collect(invoke);
      }
    } else if (expr instanceof Expr.Compare compare) {
      collect(compare.left());
      collect(compare.right());
    } else if (expr instanceof Expr.Select select) {
      collect(select.condition());
      collect(select.yes());
      collect(select.no());
    }
  }

  void writeHoisted() {
    for (Map.Entry<Expr, Integer> h : hoisted.entrySet()) {
      Expr e = h.getKey();
      int local = newLocal(e.kind());
      h.setValue(local);
      if (e instanceof Expr.KernelParam p) {
        loadParameter(p);
      } else if (e instanceof Expr.SymbolAddress s) {
        field("symbols", "[J");
        push(symbols.get(s.symbol()));
        out.visitInsn(Opcodes.LALOAD);
      }
      store(e.kind(), local);
    }
  }

  private void loadParameter(Expr.KernelParam p) {
    field("parameters", "J");
    out.visitLdcInsn((long) p.offset());
    out.visitInsn(Opcodes.LADD);
    String name =
        switch (p.type()) {
          case U8, B8 -> "loadU8";
          case S8 -> "loadS8";
          case S16 -> "loadS16";
          case F32 -> "loadF32";
          case F64 -> "loadF64";
          default ->
              p.type().bits() == 16 ? "loadU16" : p.type().bits() == 64 ? "loadI64" : "loadI32";
        };
    invoke("graft/remoting/software/exec/Access", name, "(J)" + Kind.of(p.type()).descriptor());
  }

  // ---- registers

  private int local(Register r) {
    return locals.computeIfAbsent(r, x -> newLocal(x.kind()));
  }

  void loadRegister(Register r) {
    load(r.kind(), local(r));
  }

  void storeRegister(Register r) {
    store(r.kind(), local(r));
  }

  /** Gives a register the value 0. */
  void clearRegister(Register r) {
    out.visitInsn(
        switch (r.kind()) {
          case INT -> Opcodes.ICONST_0;
          case LONG -> Opcodes.LCONST_0;
          case FLOAT -> Opcodes.FCONST_0;
          case DOUBLE -> Opcodes.DCONST_0;
        });
    storeRegister(r);
  }

  void load(Kind kind, int local) {
    out.visitVarInsn(Opcodes.ILOAD + kind.ordinal(), local);
  }

  void store(Kind kind, int local) {
    out.visitVarInsn(Opcodes.ISTORE + kind.ordinal(), local);
  }

  // ---- nodes and expressions

  void write(Node node) {
    if (node instanceof Node.Assign assign) {
      write(assign.value());
      storeRegister(assign.target());
    } else if (node instanceof Node.Effect effect) {
      write(effect.value());
      Kind kind = effect.value().kind();
      if (kind != null) {
        out.visitInsn(kind.isWide() ? Opcodes.POP2 : Opcodes.POP);
      }
    } else if (node instanceof Node.Guarded guarded) {
      Label skip = new Label();
      jump(guarded.condition(), guarded.negated(), skip);
      guarded.body().forEach(this::write);
      out.visitLabel(skip);
    } else if (node instanceof Node.Call call) {
      calls.write(call);
    }
  }

  void write(Expr expr) {
    if (expr instanceof Expr.Read read) {
      loadRegister(read.register());
    } else if (expr instanceof Expr.Const constant) {
      constant(constant);
    } else if (expr instanceof Expr.Apply apply) {
      apply.arguments().forEach(this::write);
      out.visitInsn(apply.opcode());
    } else if (expr instanceof Expr.Compare) {
      Label no = new Label();
      Label end = new Label();
      jump(expr, false, no);
      out.visitInsn(Opcodes.ICONST_1);
      out.visitJumpInsn(Opcodes.GOTO, end);
      out.visitLabel(no);
      out.visitInsn(Opcodes.ICONST_0);
      out.visitLabel(end);
    } else if (expr instanceof Expr.Select select) {
      Label no = new Label();
      Label end = new Label();
      jump(select.condition(), false, no);
      write(select.yes());
      out.visitJumpInsn(Opcodes.GOTO, end);
      out.visitLabel(no);
      write(select.no());
      out.visitLabel(end);
    } else if (expr instanceof Expr.Invoke call) {
      invoke(call);
    } else if (expr instanceof Expr.BlockField f) {
      field(f.name(), String.valueOf(f.kind().descriptor()));
    } else if (expr instanceof Expr.BlockElement e) {
      field(e.array(), "[I");
      out.visitVarInsn(Opcodes.ILOAD, THREAD_LOCAL);
      out.visitInsn(Opcodes.IALOAD);
    } else if (expr instanceof Expr.ThreadIndex) {
      out.visitVarInsn(Opcodes.ILOAD, THREAD_LOCAL);
    } else if (expr instanceof Expr.KernelParam) {
      load(expr.kind(), hoisted.get(expr));
    } else if (expr instanceof Expr.SymbolAddress s) {
      load(Kind.LONG, hoisted.get(new Expr.SymbolAddress(s.symbol(), 0)));
      plus(s.offset());
    } else if (expr instanceof Expr.FrameAddress f) {
      load(Kind.LONG, frameLocal);
      plus(f.offset());
    } else if (expr instanceof Expr.ArgumentAddress a) {
      load(Kind.LONG, argumentLocal);
      plus(a.offset());
    }
  }

  void plus(long offset) {
    if (offset != 0) {
      out.visitLdcInsn(offset);
      out.visitInsn(Opcodes.LADD);
    }
  }

  private void invoke(Expr.Invoke call) {
    if (accesses != null && accesses.write(call)) {
      return;
    }
    StringBuilder descriptor = new StringBuilder("(");
    if (call.block()) {
      out.visitVarInsn(Opcodes.ALOAD, BLOCK_LOCAL);
      descriptor.append(BLOCK_DESCRIPTOR);
    }
    for (Expr argument : call.arguments()) {
      write(argument);
      descriptor.append(argument.kind().descriptor());
    }
    descriptor.append(')').append(call.kind() == null ? 'V' : call.kind().descriptor());
    invoke(call.owner(), call.name(), descriptor.toString());
  }

  void invoke(String owner, String name, String descriptor) {
    out.visitMethodInsn(Opcodes.INVOKESTATIC, owner, name, descriptor, false);
  }

  void field(String name, String descriptor) {
    out.visitVarInsn(Opcodes.ALOAD, BLOCK_LOCAL);
    out.visitFieldInsn(Opcodes.GETFIELD, BLOCK, name, descriptor);
  }

  void push(int value) {
    if (value >= -1 && value <= 5) {
      out.visitInsn(Opcodes.ICONST_0 + value);
    } else if (value == (byte) value) {
      out.visitIntInsn(Opcodes.BIPUSH, value);
    } else if (value == (short) value) {
      out.visitIntInsn(Opcodes.SIPUSH, value);
    } else {
      out.visitLdcInsn(value);
    }
  }

  private void constant(Expr.Const c) {
    switch (c.kind()) {
      case INT -> push((int) c.bits());
      case LONG -> {
        if (c.bits() == 0 || c.bits() == 1) {
          out.visitInsn(Opcodes.LCONST_0 + (int) c.bits());
        } else {
          out.visitLdcInsn(c.bits());
        }
      }
      case FLOAT -> {
        float f = Float.intBitsToFloat((int) c.bits());
        if (Float.isNaN(f)) {
          push((int) c.bits());
          invoke("java/lang/Float", "intBitsToFloat", "(I)F");
        } else if (c.bits() == 0) {
          out.visitInsn(Opcodes.FCONST_0);
        } else {
          out.visitLdcInsn(f);
        }
      }
      case DOUBLE -> {
        double d = Double.longBitsToDouble(c.bits());
        if (Double.isNaN(d)) {
          out.visitLdcInsn(c.bits());
          invoke("java/lang/Double", "longBitsToDouble", "(J)D");
        } else {
          out.visitLdcInsn(d);
        }
      }
    }
  }

  /** Jumps if the truth of the condition equals {@code when}. */
  void jump(Expr condition, boolean when, Label target) {
    if (!(condition instanceof Expr.Compare c)) {
      write(condition);
      out.visitJumpInsn(when ? Opcodes.IFNE : Opcodes.IFEQ, target);
      return;
    }
    boolean holds = when != c.negated();
    Kind kind = c.left().kind();
    write(c.left());
    if (kind == Kind.INT) {
      if (c.right() instanceof Expr.Const zero && zero.bits() == 0) {
        out.visitJumpInsn(opcode(c.condition(), holds, Opcodes.IFEQ), target);
      } else {
        write(c.right());
        out.visitJumpInsn(opcode(c.condition(), holds, Opcodes.IF_ICMPEQ), target);
      }
      return;
    }
    write(c.right());
    if (kind == Kind.LONG) {
      out.visitInsn(Opcodes.LCMP);
    } else {
      // A comparison with NaN must be false, so that NaN counts as greater for < and as less for >.
      boolean less = c.condition() == Expr.Condition.LT || c.condition() == Expr.Condition.LE;
      boolean single = kind == Kind.FLOAT;
      out.visitInsn(
          less
              ? (single ? Opcodes.FCMPG : Opcodes.DCMPG)
              : (single ? Opcodes.FCMPL : Opcodes.DCMPL));
    }
    out.visitJumpInsn(opcode(c.condition(), holds, Opcodes.IFEQ), target);
  }

  /** The opcodes IFEQ IFNE IFLT IFGE IFGT IFLE are in this order, and so are the IF_ICMPxx. */
  private static int opcode(Expr.Condition condition, boolean holds, int first) {
    int k =
        switch (condition) {
          case EQ -> holds ? 0 : 1;
          case NE -> holds ? 1 : 0;
          case LT -> holds ? 2 : 3;
          case GE -> holds ? 3 : 2;
          case GT -> holds ? 4 : 5;
          case LE -> holds ? 5 : 4;
        };
    return first + k;
  }
}
