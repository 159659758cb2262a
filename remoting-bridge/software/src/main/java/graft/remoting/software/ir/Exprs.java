package graft.remoting.software.ir;

import graft.remoting.software.ir.Expr.Apply;
import graft.remoting.software.ir.Expr.Compare;
import graft.remoting.software.ir.Expr.Condition;
import graft.remoting.software.ir.Expr.Const;
import graft.remoting.software.ir.Expr.Invoke;
import graft.remoting.software.ptx.PtxType;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** Builds expressions. */
public final class Exprs {
  private static final String RUNTIME = "graft/remoting/software/";

  private Exprs() {}

  public static Const integer(int value) {
    return new Const(Kind.INT, value);
  }

  public static Const number(long value) {
    return new Const(Kind.LONG, value);
  }

  /**
   * Applies one of the JVM's arithmetic instructions, which exist for int, long, float and double,
   * in this order.
   */
  public static Expr arithmetic(int intOpcode, Expr a, Expr b) {
    return new Apply(intOpcode + a.kind().ordinal(), a.kind(), List.of(a, b));
  }

  /** {@code IAND}, {@code IOR}, {@code IXOR} and the shifts: int and long only. */
  public static Expr bitwise(int intOpcode, Expr a, Expr b) {
    return arithmetic(intOpcode, a, b);
  }

  public static Expr negate(Expr a) {
    return new Apply(Opcodes.INEG + a.kind().ordinal(), a.kind(), List.of(a));
  }

  public static Expr convert(int opcode, Kind to, Expr a) {
    return new Apply(opcode, to, List.of(a));
  }

  public static Expr add(Expr a, long offset) {
    if (offset == 0) {
      return a;
    }
    return arithmetic(
        Opcodes.IADD, a, a.kind() == Kind.INT ? integer((int) offset) : number(offset));
  }

  public static Expr zeroExtend(Expr a) {
    if (a instanceof Const c) {
      return number(c.bits() & 0xffffffffL);
    }
    return bitwise(Opcodes.IAND, convert(Opcodes.I2L, Kind.LONG, a), number(0xffffffffL));
  }

  /**
   * Calls a method of the runtime.
   *
   * @param owner its package and class, such as {@code math/HalfMath}
   */
  public static Expr call(String owner, String name, Kind kind, Expr... arguments) {
    return new Invoke(RUNTIME + owner, name, false, kind, List.of(arguments));
  }

  /** As {@link #call}, with the thread block and the thread as the last arguments. */
  public static Expr callWithBlock(String owner, String name, Kind kind, Expr... arguments) {
    return new Invoke(RUNTIME + owner, name, true, kind, List.of(arguments));
  }

  public static Expr compare(Condition condition, Expr a, Expr b) {
    return new Compare(condition, false, a, b);
  }

  public static Expr not(Expr predicate) {
    if (predicate instanceof Compare c) {
      return new Compare(c.condition(), !c.negated(), c.left(), c.right());
    }
    return bitwise(Opcodes.IXOR, predicate, integer(1));
  }

  /** Reinterprets the raw bits of a float or double as an integer, or the reverse. */
  public static Expr reinterpret(Expr a, Kind to) {
    if (a.kind() == to) {
      return a;
    }
    if (a instanceof Const c) {
      return new Const(to, c.bits());
    }
    return switch (to) {
      case INT -> java("Float", "floatToRawIntBits", to, a);
      case FLOAT -> java("Float", "intBitsToFloat", to, a);
      case LONG -> java("Double", "doubleToRawLongBits", to, a);
      case DOUBLE -> java("Double", "longBitsToDouble", to, a);
    };
  }

  public static Expr java(String owner, String name, Kind kind, Expr... arguments) {
    return new Invoke("java/lang/" + owner, name, false, kind, List.of(arguments));
  }

  /** Narrows an int to a type of at most 16 bits, extended as the type requires. */
  public static Expr narrow(Expr a, PtxType type) {
    if (a instanceof Const c && c.kind() == Kind.INT) {
      return integer(narrow((int) c.bits(), type));
    }
    return switch (type) {
      case S8 -> convert(Opcodes.I2B, Kind.INT, a);
      case S16 -> convert(Opcodes.I2S, Kind.INT, a);
      case U8, B8 -> bitwise(Opcodes.IAND, a, integer(0xff));
      case U16, B16, F16, BF16, E4M3X2, E5M2X2 -> convert(Opcodes.I2C, Kind.INT, a);
      case PRED -> bitwise(Opcodes.IAND, a, integer(1));
      default -> a;
    };
  }

  private static int narrow(int value, PtxType type) {
    return switch (type) {
      case S8 -> (byte) value;
      case S16 -> (short) value;
      case U8, B8 -> value & 0xff;
      case U16, B16, F16, BF16, E4M3X2, E5M2X2 -> value & 0xffff;
      case PRED -> value & 1;
      default -> value;
    };
  }
}
