package graft.remoting.software.lowering;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Register;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.ptx.PtxModule;
import graft.remoting.software.ptx.PtxParser;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.objectweb.asm.Opcodes;

/** Lowers PTX and writes the intermediate form as text, as {@code %r3 = IADD(%r1, %r2)}. */
final class IrText {
  private static final Map<Integer, String> OPCODES = opcodes();

  private IrText() {}

  /** The kernel named {@code k} of a module whose first line is the first of the text. */
  static Program lower(String ptx) {
    PtxModule module = PtxParser.parse(".version 8.4 .target sm_90 .address_size 64 " + ptx);
    return Program.lower(module, new SyncAnalysis(module), module.functions().get("k"));
  }

  /** A kernel with the registers that tests use around some instructions. */
  static Program lowerBody(String body) {
    return lower(
        ".visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<6>; "
            + ".reg .b64 %l<6>; .reg .f32 %f<4>; .reg .f64 %d<4>; "
            + body
            + " }");
  }

  /** The nodes of the kernel's first block, without its end. */
  static String nodes(String body) {
    return nodes(lowerBody(body).kernel().start());
  }

  static String nodes(BasicBlock block) {
    return block.nodes().stream().map(IrText::node).collect(Collectors.joining("; "));
  }

  static String node(Node node) {
    if (node instanceof Node.Assign a) {
      return name(a.target()) + " = " + expr(a.value());
    }
    if (node instanceof Node.Effect e) {
      return expr(e.value());
    }
    if (node instanceof Node.Guarded g) {
      String body = g.body().stream().map(IrText::node).collect(Collectors.joining("; "));
      return "if " + (g.negated() ? "not " : "") + expr(g.condition()) + " {" + body + "}";
    }
    Node.Call call = (Node.Call) node;
    return "call " + (call.function() == null ? expr(call.target()) : call.function());
  }

  static String expr(Expr expr) {
    if (expr instanceof Expr.Read r) {
      return name(r.register());
    }
    if (expr instanceof Expr.Const c) {
      return switch (c.kind()) {
        case INT -> String.valueOf((int) c.bits());
        case LONG -> c.bits() + "L";
        case FLOAT -> Float.intBitsToFloat((int) c.bits()) + "f";
        case DOUBLE -> String.valueOf(Double.longBitsToDouble(c.bits()));
      };
    }
    if (expr instanceof Expr.Apply a) {
      return OPCODES.get(a.opcode()) + list(a.arguments());
    }
    if (expr instanceof Expr.Compare c) {
      String text = c.condition() + list(List.of(c.left(), c.right()));
      return c.negated() ? "not " + text : text;
    }
    if (expr instanceof Expr.Select s) {
      return "SELECT" + list(List.of(s.condition(), s.yes(), s.no()));
    }
    if (expr instanceof Expr.Invoke v) {
      return v.owner().substring(v.owner().lastIndexOf('/') + 1)
          + "."
          + v.name()
          + list(v.arguments());
    }
    if (expr instanceof Expr.BlockField f) {
      return "block." + f.name();
    }
    if (expr instanceof Expr.BlockElement e) {
      return "block." + e.array() + "[thread]";
    }
    if (expr instanceof Expr.KernelParam p) {
      return "param[" + p.offset() + "]:" + p.type();
    }
    if (expr instanceof Expr.FrameAddress f) {
      return "frame+" + f.offset();
    }
    if (expr instanceof Expr.ArgumentAddress a) {
      return "arguments+" + a.offset();
    }
    if (expr instanceof Expr.SymbolAddress s) {
      return s.symbol() + "+" + s.offset();
    }
    return "thread";
  }

  private static String list(List<Expr> arguments) {
    return arguments.stream().map(IrText::expr).collect(Collectors.joining(", ", "(", ")"));
  }

  private static String name(Register r) {
    return r.toString().substring(0, r.toString().indexOf(':'));
  }

  /** How the blocks of a function end, in their order. */
  static List<String> ends(FunctionIr f) {
    List<String> result = new ArrayList<>();
    for (BasicBlock b : f.blocks()) {
      result.add(
          b.end() instanceof Terminator.Sync s
              ? s.point().kind() + list(s.arguments())
              : b.end() instanceof Terminator.Branch c
                  ? "branch " + expr(c.condition())
                  : b.end().getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT));
    }
    return result;
  }

  private static Map<Integer, String> opcodes() {
    Map<Integer, String> names = new HashMap<>();
    for (Field f : Opcodes.class.getFields()) {
      if (f.getName().matches("[ILFD](2[BCSILFD]|ADD|SUB|MUL|DIV|REM|NEG|AND|OR|XOR|U?SH[LR])")) {
        try {
          names.putIfAbsent(f.getInt(null), f.getName());
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
          throw new IllegalStateException(f.getName(), e);
        }
      }
    }
    return names;
  }
}
