package graft.remoting.software.analysis;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Register;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Opcodes;

/**
 * Finds the addresses of the form {@code base + x·tid.x + y·tid.y + z·tid.z} in which base, x, y
 * and z are the same for all threads of a block. For these it is enough to check the first and the
 * last address of the block.
 *
 * <p>Only registers that are assigned once are followed, so that a value does not depend on when it
 * is read. Everything is computed modulo 2^64; what PTX computes in 32 bits agrees with that modulo
 * 2^32, and exactly under the conditions that come with the address.
 */
public final class AffineAddresses {
  private static final int LARGEST_EXPRESSION = 64;

  /** {@code base + strides[0]·tid.x + strides[1]·tid.y + strides[2]·tid.z}, all long. */
  public record Affine(Expr base, List<Expr> strides) {
    /** Returns whether the value is the same for all threads of a block. */
    boolean isUniform() {
      return strides.stream().allMatch(s -> s.equals(ZERO));
    }

    /** Returns the expressions that must be computed once for each block. */
    public List<Expr> parts() {
      List<Expr> parts = new ArrayList<>(strides);
      parts.add(base);
      return parts;
    }
  }

  /** A value that must lie in a range for all threads of a block. */
  public record Condition(Affine value, long least, long most) {}

  /** An address, and the conditions under which it has this form. */
  public record Address(Affine value, Set<Condition> conditions) {}

  /** A stride along which the address does not change. */
  public static final Expr ZERO = Exprs.number(0);

  private static final Expr ONE = Exprs.number(1);

  private final Map<Register, Expr> definitions = new HashMap<>();
  private final Set<Register> open = new LinkedHashSet<>();
  private Set<Condition> conditions = new LinkedHashSet<>();

  /** Searches a function for the registers that are assigned once. */
  public AffineAddresses(FunctionIr ir) {
    Map<Register, Integer> assignments = new HashMap<>();
    ir.blocks().forEach(b -> b.nodes().forEach(n -> count(n, assignments)));
    for (BasicBlock b : ir.blocks()) {
      for (Node n : b.nodes()) {
        if (n instanceof Node.Assign a && assignments.get(a.target()) == 1) {
          definitions.put(a.target(), a.value());
        }
      }
    }
  }

  private static void count(Node node, Map<Register, Integer> assignments) {
    if (node instanceof Node.Assign a) {
      assignments.merge(a.target(), 1, Integer::sum);
    } else if (node instanceof Node.Guarded g) {
      // A register that is assigned under a guard must not count as assigned once, because the
      // assignment depends on the thread.
      g.body().forEach(n -> count(n, assignments));
      g.body().forEach(n -> count(n, assignments));
    }
  }

  /** The affine form of an address, or null if it has none. */
  public Address of(Expr address) {
    conditions = new LinkedHashSet<>();
    Affine value = affine(address);
    return value == null || size(value) > LARGEST_EXPRESSION
        ? null
        : new Address(value, conditions);
  }

  private static int size(Affine value) {
    return value.parts().stream().mapToInt(AffineAddresses::size).sum();
  }

  private static int size(Expr e) {
    return e instanceof Expr.Apply a
        ? 1 + a.arguments().stream().mapToInt(AffineAddresses::size).sum()
        : 1;
  }

  private Affine affine(Expr e) {
    if (e instanceof Expr.Const
        || e instanceof Expr.KernelParam
        || e instanceof Expr.SymbolAddress
        || e instanceof Expr.BlockField) {
      return e.kind() == Kind.LONG || e.kind() == Kind.INT ? uniform(widened(e)) : null;
    }
    if (e instanceof Expr.Read read) {
      return register(read.register());
    }
    if (e instanceof Expr.BlockElement element) {
      return switch (element.array()) {
        case "tidX" -> new Affine(ZERO, List.of(ONE, ZERO, ZERO));
        case "tidY" -> new Affine(ZERO, List.of(ZERO, ONE, ZERO));
        case "tidZ" -> new Affine(ZERO, List.of(ZERO, ZERO, ONE));
        default -> null;
      };
    }
    return e instanceof Expr.Apply apply ? applied(apply) : null;
  }

  private Affine register(Register r) {
    Expr definition = definitions.get(r);
    if (definition == null || !open.add(r)) {
      return null;
    }
    Affine value = affine(definition);
    open.remove(r);
    return value == null || size(value) > LARGEST_EXPRESSION ? null : value;
  }

  private static Affine uniform(Expr value) {
    return new Affine(value, List.of(ZERO, ZERO, ZERO));
  }

  private Affine applied(Expr.Apply e) {
    List<Expr> arguments = e.arguments();
    switch (e.opcode()) {
      case Opcodes.IADD, Opcodes.LADD, Opcodes.ISUB, Opcodes.LSUB -> {
        boolean add = e.opcode() == Opcodes.IADD || e.opcode() == Opcodes.LADD;
        Affine a = affine(arguments.get(0));
        Affine b = a == null ? null : affine(arguments.get(1));
        return b == null ? null : combined(add ? Opcodes.LADD : Opcodes.LSUB, a, b);
      }
      case Opcodes.IMUL, Opcodes.LMUL -> {
        Affine a = affine(arguments.get(0));
        Affine b = a == null ? null : affine(arguments.get(1));
        if (b == null || !a.isUniform() && !b.isUniform()) {
          return null;
        }
        return a.isUniform() ? scaled(b, a.base) : scaled(a, b.base);
      }
      case Opcodes.ISHL, Opcodes.LSHL -> {
        Affine a = affine(arguments.get(0));
        return a != null && arguments.get(1) instanceof Expr.Const by
            ? scaled(a, Exprs.number(1L << by.bits()))
            : null;
      }
      case Opcodes.I2L -> {
        return within(affine(arguments.get(0)), Integer.MIN_VALUE, Integer.MAX_VALUE);
      }
      case Opcodes.L2I -> {
        return affine(arguments.get(0));
      }
      case Opcodes.LAND -> {
        // Exprs.zeroExtend
        return arguments.get(1).equals(Exprs.number(0xffffffffL))
                && arguments.get(0) instanceof Expr.Apply widened
                && widened.opcode() == Opcodes.I2L
            ? within(affine(widened.arguments().get(0)), 0, 0xffffffffL)
            : null;
      }
      default -> {
        return null;
      }
    }
  }

  private Affine within(Affine value, long least, long most) {
    if (value != null && value.isUniform() && value.base instanceof Expr.Const c) {
      return c.bits() >= least && c.bits() <= most ? value : null;
    }
    if (value != null) {
      conditions.add(new Condition(value, least, most));
    }
    return value;
  }

  private static Affine combined(int opcode, Affine a, Affine b) {
    List<Expr> strides = new ArrayList<>();
    for (int k = 0; k < 3; k++) {
      strides.add(folded(opcode, a.strides.get(k), b.strides.get(k)));
    }
    return new Affine(folded(opcode, a.base, b.base), strides);
  }

  private static Affine scaled(Affine a, Expr by) {
    return new Affine(
        folded(Opcodes.LMUL, a.base, by),
        a.strides.stream().map(s -> folded(Opcodes.LMUL, s, by)).toList());
  }

  private static Expr widened(Expr e) {
    if (e.kind() == Kind.LONG) {
      return e;
    }
    return e instanceof Expr.Const c
        ? Exprs.number((int) c.bits())
        : Exprs.convert(Opcodes.I2L, Kind.LONG, e);
  }

  private static Expr folded(int opcode, Expr a, Expr b) {
    if (a instanceof Expr.Const x && b instanceof Expr.Const y) {
      return Exprs.number(
          switch (opcode) {
            case Opcodes.LADD -> x.bits() + y.bits();
            case Opcodes.LSUB -> x.bits() - y.bits();
            default -> x.bits() * y.bits();
          });
    }
    if (opcode == Opcodes.LMUL) {
      if (a.equals(ZERO) || b.equals(ONE)) {
        return a;
      }
      if (b.equals(ZERO) || a.equals(ONE)) {
        return b;
      }
    } else if (b.equals(ZERO)) {
      return a;
    } else if (a.equals(ZERO) && opcode == Opcodes.LADD) {
      return b;
    }
    return new Expr.Apply(opcode, Kind.LONG, List.of(a, b));
  }
}
