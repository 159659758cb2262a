package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.arithmetic;
import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** PTX ISA, "Floating-Point Instructions" and "Half Precision Floating-Point Instructions". */
final class FloatLowering extends InstructionGroup {
  private static final String MATH = "math/FloatMath";

  FloatLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "add",
          "sub",
          "mul",
          "fma",
          "mad",
          "div",
          "abs",
          "neg",
          "min",
          "max",
          "rcp",
          "sqrt",
          "rsqrt",
          "sin",
          "cos",
          "lg2",
          "ex2",
          "tanh",
          "testp",
          "copysign" -> {
        return type(i).isFloat() && floating(i);
      }
      default -> {
        return false;
      }
    }
  }

  private boolean floating(Instruction i) {
    PtxType t = type(i);
    if (t.isHalf()) {
      half(i, t);
      return true;
    }
    if (t == PtxType.F32X2) {
      packed(i);
      return true;
    }
    if (t != PtxType.F32 && t != PtxType.F64) {
      throw unsupported(i);
    }
    switch (i.opcode()) {
      case "add", "sub", "mul" -> binary(i, t);
      case "fma", "mad" -> fused(i, t);
      case "div" -> divide(i, t);
      case "abs", "neg" -> sign(i, t);
      case "min", "max" -> minMax(i, t);
      case "testp" -> test(i, t);
      // copysign d, a, b: magnitude of b, sign of a.
      case "copysign" ->
          write(i, 0, t, call(MATH, "copySign", Kind.of(t), read(i, 1, t), read(i, 2, t)));
      default -> function(i, t);
    }
    return true;
  }

  private Expr operand(Instruction i, int index, PtxType t) {
    return flush(i, read(i, index, t));
  }

  private void result(Instruction i, PtxType t, Expr value) {
    write(i, 0, t, finished(i, value));
  }

  private static Expr finished(Instruction i, Expr value) {
    Expr v = flush(i, value);
    return i.has(".sat") ? call(MATH, "saturate", v.kind(), v) : v;
  }

  private void binary(Instruction i, PtxType t) {
    allow(i, ".rn", ".rz", ".rm", ".rp", ".ftz", ".sat");
    result(i, t, binary(i, operand(i, 1, t), operand(i, 2, t)));
  }

  private static Expr binary(Instruction i, Expr a, Expr b) {
    if (rounding(i) != 0) {
      return call("math/Rounding", i.opcode(), a.kind(), a, b, integer(rounding(i)));
    }
    if (i.has(".ftz") && i.opcode().equals("mul")) {
      return call(MATH, "mulFlush", Kind.FLOAT, a, b);
    }
    int opcode =
        switch (i.opcode()) {
          case "add" -> Opcodes.IADD;
          case "sub" -> Opcodes.ISUB;
          default -> Opcodes.IMUL;
        };
    return arithmetic(opcode, a, b);
  }

  private void fused(Instruction i, PtxType t) {
    allow(i, ".rn", ".rz", ".rm", ".rp", ".ftz", ".sat");
    result(i, t, fused(i, operand(i, 1, t), operand(i, 2, t), operand(i, 3, t)));
  }

  private static Expr fused(Instruction i, Expr a, Expr b, Expr c) {
    return rounding(i) == 0
        ? call(MATH, i.has(".ftz") ? "fmaFlush" : "fma", a.kind(), a, b, c)
        : call("math/Rounding", "fma", a.kind(), a, b, c, integer(rounding(i)));
  }

  /** Two floats in 64 bits, the first in the low half. */
  private void packed(Instruction i) {
    allow(i, ".rn", ".rz", ".rm", ".rp", ".ftz");
    List<Expr> operands = new ArrayList<>();
    for (int k = 1; k < i.operands().size(); k++) {
      operands.add(at.copy(read(i, k, PtxType.B64), PtxType.B64));
    }
    Expr low = Exprs.zeroExtend(half(i, operands, 0));
    Expr high =
        new Expr.Apply(
            Opcodes.LSHL, Kind.LONG, List.of(Exprs.zeroExtend(half(i, operands, 32)), integer(32)));
    write(i, 0, PtxType.B64, Exprs.bitwise(Opcodes.IOR, low, high));
  }

  /** Returns the bits of the result for the halves that start at a bit. */
  private static Expr half(Instruction i, List<Expr> operands, int bit) {
    List<Expr> halves =
        operands.stream()
            .map(
                o ->
                    bit == 0
                        ? o
                        : new Expr.Apply(Opcodes.LUSHR, Kind.LONG, List.of(o, integer(bit))))
            .map(o -> Exprs.convert(Opcodes.L2I, Kind.INT, o))
            .map(o -> flush(i, Exprs.reinterpret(o, Kind.FLOAT)))
            .toList();
    Expr value =
        switch (i.opcode()) {
          case "add", "sub", "mul" -> binary(i, halves.get(0), halves.get(1));
          case "fma" -> fused(i, halves.get(0), halves.get(1), halves.get(2));
          default -> throw unsupported(i);
        };
    return Exprs.reinterpret(finished(i, value), Kind.INT);
  }

  private void divide(Instruction i, PtxType t) {
    allow(i, ".rn", ".rz", ".rm", ".rp", ".ftz", ".approx", ".full");
    Expr a = operand(i, 1, t);
    Expr b = operand(i, 2, t);
    if (rounding(i) != 0) {
      result(i, t, call("math/Rounding", "div", Kind.of(t), a, b, integer(rounding(i))));
    } else if (i.has(".approx")) {
      result(i, t, call(MATH, "divApprox", Kind.FLOAT, a, b));
    } else {
      result(i, t, arithmetic(Opcodes.IDIV, a, b));
    }
  }

  private void sign(Instruction i, PtxType t) {
    allow(i, ".ftz");
    Expr a = operand(i, 1, t);
    write(i, 0, t, call(MATH, i.opcode(), Kind.of(t), a));
  }

  private void minMax(Instruction i, PtxType t) {
    allow(i, ".ftz", ".NaN", ".xorsign", ".abs");
    if (i.operands().size() != 3) {
      throw unsupported(i);
    }
    String name = i.opcode() + (i.has(".NaN") ? "NaN" : "") + (i.has(".xorsign") ? "XorSign" : "");
    result(i, t, call(MATH, name, Kind.of(t), operand(i, 1, t), operand(i, 2, t)));
  }

  private void test(Instruction i, PtxType t) {
    String which =
        i.modifiers().get(0).substring(1); // finite infinite number notanumber normal subnormal
    if (!List.of("finite", "infinite", "number", "notanumber", "normal", "subnormal")
        .contains(which)) {
      throw unsupported(i);
    }
    write(i, 0, PtxType.PRED, call(MATH, which, Kind.INT, read(i, 1, t)));
  }

  /** Functions of one operand; approximate ones are computed in double and rounded. */
  private void function(Instruction i, PtxType t) {
    allow(i, ".approx", ".ftz", ".rn", ".rz", ".rm", ".rp");
    Expr a = operand(i, 1, t);
    String name = i.opcode();
    if (rounding(i) != 0) {
      result(i, t, call("math/Rounding", name, Kind.of(t), a, integer(rounding(i))));
      return;
    }
    if (t == PtxType.F64 && i.has(".approx")) {
      // rcp.approx.ftz.f64 and rsqrt.approx.f64: 20 bits of the upper word.
      if (!name.equals("rcp") && !name.equals("rsqrt")) {
        throw unsupported(i);
      }
      name += "Approx";
    }
    result(i, t, call(MATH, name, Kind.of(t), a));
  }

  private void half(Instruction i, PtxType t) {
    List<Expr> arguments = new ArrayList<>();
    for (int k = 1; k < i.operands().size(); k++) {
      arguments.add(read(i, k, t));
    }
    String name = i.opcode();
    if (name.equals("testp") || name.equals("copysign") || name.equals("mad")) {
      throw unsupported(i);
    }
    allow(
        i, ".rn", ".ftz", ".sat", ".relu", ".approx", ".NaN", ".xorsign", ".abs", ".noftz", ".oob");
    int arity =
        switch (name) {
          case "fma" -> 3;
          case "add", "sub", "mul", "min", "max" -> 2;
          case "abs", "neg", "ex2", "tanh" -> 1;
          default -> throw unsupported(i);
        };
    if (arguments.size() != arity || i.has(".oob")) {
      throw unsupported(i);
    }
    String form = name + (i.has(".NaN") ? "NaN" : "") + (i.has(".xorsign") ? "XorSign" : "");
    int flags = (i.has(".sat") ? 1 : 0) | (i.has(".relu") ? 2 : 0) | (i.has(".ftz") ? 4 : 0);
    boolean pair = t == PtxType.F16X2 || t == PtxType.BF16X2;
    String owner = t == PtxType.F16 || t == PtxType.F16X2 ? "math/HalfMath" : "math/BfloatMath";
    if (!pair) {
      arguments.add(integer(flags));
      write(i, 0, t, call(owner, form, Kind.INT, arguments.toArray(Expr[]::new)));
      return;
    }
    List<Expr> pairs = arguments.stream().map(a -> at.copy(a, PtxType.B32)).toList();
    Expr[] low = new Expr[arity + 1];
    Expr[] high = new Expr[arity + 1];
    for (int k = 0; k < arity; k++) {
      low[k] = Exprs.narrow(pairs.get(k), PtxType.U16);
      high[k] = Exprs.bitwise(Opcodes.IUSHR, pairs.get(k), integer(16));
    }
    low[arity] = integer(flags);
    high[arity] = integer(flags);
    Expr lowResult = Exprs.narrow(call(owner, form, Kind.INT, low), PtxType.U16);
    Expr highResult = Exprs.bitwise(Opcodes.ISHL, call(owner, form, Kind.INT, high), integer(16));
    write(i, 0, t, Exprs.bitwise(Opcodes.IOR, lowResult, highResult));
  }
}
