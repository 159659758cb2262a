package graft.remoting.software.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One kernel for each instruction form. Each thread takes three 64-bit operands, applies the
 * instruction to their low bits, and stores 64 bits.
 */
public final class InstructionCases {
  /** Operand sets have this many rows of three. */
  public static final int ROWS = 2048;

  /** Which values the operands take. */
  public enum Operands {
    INTEGER,
    FLOAT,
    DOUBLE,
    HALF,
    BFLOAT
  }

  /**
   * A case.
   *
   * @param kernel its name
   * @param text the instruction
   * @param operands which operand set it takes
   * @param result type of the result register: b16, b32, b64, f32, f64 or pred
   * @param ulps steps that the result may differ by; 0 means bit by bit, but for the bits of a NaN
   * @param directives what stands between the kernel's parameters and its body
   * @param body the PTX between operands and result
   */
  public record Case(
      String kernel,
      String text,
      Operands operands,
      String result,
      int ulps,
      String directives,
      String body) {}

  private final List<Case> cases = new ArrayList<>();

  private InstructionCases() {}

  /** All cases. */
  public static List<Case> all() {
    InstructionCases c = new InstructionCases();
    c.integers();
    c.shifts();
    c.comparisons();
    c.floats();
    c.halves();
    c.conversions();
    c.eightBits();
    MatrixCases.all().forEach(c::add);
    c.video();
    WideCases.all().forEach(c::add);
    ClusterCases.all().forEach(c::add);
    return c.cases;
  }

  /**
   * Registers that instructions are written with, by type: %ra, %rb, %rc for 32 bits, and so on.
   */
  private static String prefix(String type) {
    return switch (type) {
      case "u16", "s16", "b16", "f16", "bf16" -> "%h";
      case "u64", "s64", "b64" -> "%l";
      case "f32" -> "%f";
      case "f64" -> "%d";
      default -> "%r";
    };
  }

  private static Operands operandsOf(String type) {
    return switch (type) {
      case "f32" -> Operands.FLOAT;
      case "f64" -> Operands.DOUBLE;
      case "f16", "f16x2" -> Operands.HALF;
      case "bf16", "bf16x2" -> Operands.BFLOAT;
      default -> Operands.INTEGER;
    };
  }

  private static String resultOf(String type) {
    return switch (type) {
      case "u16", "s16", "b16", "f16", "bf16", "u8", "s8" -> type.endsWith("f16") ? type : "b16";
      case "u64", "s64", "b64" -> "b64";
      case "f32", "f64", "f16x2", "bf16x2" -> type;
      default -> "b32";
    };
  }

  private void add(String text, Operands operands, String result, int ulps, String body) {
    cases.add(new Case("k" + cases.size(), text, operands, result, ulps, "", body));
  }

  private void add(Form f) {
    cases.add(
        new Case(
            "k" + cases.size(),
            f.text(),
            Operands.INTEGER,
            f.result(),
            f.ulps(),
            f.directives(),
            f.body()));
  }

  /** {@code opcode dst, a, b...} with all registers of one type. */
  private void uniform(String opcode, String type, int arity, int ulps) {
    String p = prefix(type);
    String text = opcode + "." + type;
    StringBuilder operands = new StringBuilder();
    for (int i = 0; i < arity; i++) {
      operands.append(", ").append(p).append("abc".charAt(i));
    }
    add(text, operandsOf(type), resultOf(type), ulps, text + " " + p + "o" + operands + ";");
  }

  private void integers() {
    for (String t : List.of("u16", "s16", "u32", "s32", "u64", "s64")) {
      uniform("add", t, 2, 0);
      uniform("sub", t, 2, 0);
      uniform("mul.lo", t, 2, 0);
      uniform("mul.hi", t, 2, 0);
      uniform("mad.lo", t, 3, 0);
      uniform("min", t, 2, 0);
      uniform("max", t, 2, 0);
      String p = prefix(t);
      // A divisor of 0 is undefined: 1 takes its place.
      for (String op : List.of("div", "rem")) {
        String zero = t.endsWith("16") ? "b16" : t;
        String body =
            "setp.eq." + zero + " %p0, " + p + "b, 0; @%p0 mov." + bits(t) + " " + p + "b, 1; ";
        // The most negative number by -1 overflows.
        if (t.startsWith("s")) {
          body += "setp.eq." + t + " %p0, " + p + "b, -1; @%p0 mov." + bits(t) + " " + p + "b, 3; ";
        }
        add(
            op + "." + t,
            Operands.INTEGER,
            resultOf(t),
            0,
            body + op + "." + t + " " + p + "o, " + p + "a, " + p + "b;");
      }
    }
    for (String t : List.of("u32", "s32", "u64", "s64")) {
      uniform("mad.hi", t, 3, 0);
      uniform("sad", t, 3, 0);
    }
    for (String t : List.of("u16", "s16", "u32", "s32")) {
      String wide = t.charAt(0) + (t.endsWith("16") ? "32" : "64");
      String p = prefix(t);
      String q = prefix(wide);
      add(
          "mul.wide." + t,
          Operands.INTEGER,
          resultOf(wide),
          0,
          "mul.wide." + t + " " + q + "o, " + p + "a, " + p + "b;");
      add(
          "mad.wide." + t,
          Operands.INTEGER,
          resultOf(wide),
          0,
          "mad.wide." + t + " " + q + "o, " + p + "a, " + p + "b, " + q + "c;");
    }
    for (String t : List.of("s16", "s32", "s64")) {
      uniform("abs", t, 1, 0);
      uniform("neg", t, 1, 0);
    }
    for (String op : List.of("add.sat", "sub.sat")) {
      uniform(op, "s32", 2, 0);
    }
    uniform("mad.hi.sat", "s32", 3, 0);
    for (String t : List.of("u32", "s32")) {
      uniform("mul24.lo", t, 2, 0);
      uniform("mul24.hi", t, 2, 0);
      uniform("mad24.lo", t, 3, 0);
      for (String u : List.of("u32", "s32")) {
        add(
            "dp4a." + t + "." + u,
            Operands.INTEGER,
            "b32",
            0,
            "dp4a." + t + "." + u + " %ro, %ra, %rb, %rc;");
        add(
            "dp2a.lo." + t + "." + u,
            Operands.INTEGER,
            "b32",
            0,
            "dp2a.lo." + t + "." + u + " %ro, %ra, %rb, %rc;");
        add(
            "dp2a.hi." + t + "." + u,
            Operands.INTEGER,
            "b32",
            0,
            "dp2a.hi." + t + "." + u + " %ro, %ra, %rb, %rc;");
      }
    }
    for (String t : List.of("b32", "b64")) {
      String p = prefix(t);
      for (String op : List.of("popc", "clz")) {
        add(op + "." + t, Operands.INTEGER, "b32", 0, op + "." + t + " %ro, " + p + "a;");
      }
      uniform("brev", t, 1, 0);
      add(
          "bfi." + t,
          Operands.INTEGER,
          t,
          0,
          "and.b32 %rc, %rc, 255; and.b32 %rd, %rd, 255; bfi."
              + t
              + " "
              + p
              + "o, "
              + p
              + "a, "
              + p
              + "b, %rc, %rd;");
    }
    for (String t : List.of("u32", "s32", "u64", "s64")) {
      String p = prefix(t);
      add("bfind." + t, Operands.INTEGER, "b32", 0, "bfind." + t + " %ro, " + p + "a;");
      add(
          "bfind.shiftamt." + t,
          Operands.INTEGER,
          "b32",
          0,
          "bfind.shiftamt." + t + " %ro, " + p + "a;");
      add(
          "bfe." + t,
          Operands.INTEGER,
          resultOf(t),
          0,
          "and.b32 %rb, %rb, 255; and.b32 %rc, %rc, 255; bfe."
              + t
              + " "
              + p
              + "o, "
              + p
              + "a, %rb, %rc;");
      // Position and length in the range that programs use.
      add(
          "bfe." + t + " in range",
          Operands.INTEGER,
          resultOf(t),
          0,
          "and.b32 %rb, %rb, 63; and.b32 %rc, %rc, 63; bfe."
              + t
              + " "
              + p
              + "o, "
              + p
              + "a, %rb, %rc;");
    }
    add(
        "fns.b32",
        Operands.INTEGER,
        "b32",
        0,
        "and.b32 %rb, %rb, 31; and.b32 %rc, %rc, 7; sub.s32 %rc, %rc, 3; fns.b32 %ro, %ra, %rb, %rc;");
    for (String clamp : List.of("clamp", "wrap")) {
      for (String t : List.of("u32", "s32")) {
        add(
            "szext." + clamp + "." + t,
            Operands.INTEGER,
            "b32",
            0,
            "szext." + clamp + "." + t + " %ro, %ra, %rb;");
      }
      add("bmsk." + clamp, Operands.INTEGER, "b32", 0, "bmsk." + clamp + ".b32 %ro, %ra, %rb;");
    }
    for (String carry : List.of("add", "sub")) {
      for (String w : List.of("u32", "u64")) {
        String p = prefix(w);
        add(
            carry + " with carry " + w,
            Operands.INTEGER,
            resultOf(w),
            0,
            carry + ".cc." + w + " " + p + "o, " + p + "a, " + p + "b; " + carry + "c.cc." + w + " "
                + p + "o, " + p + "b, " + p + "c; " + carry + "c." + w + " " + p + "o, " + p + "o, "
                + p + "a;");
      }
    }
    add(
        "mad with carry",
        Operands.INTEGER,
        "b32",
        0,
        "mad.lo.cc.u32 %rd, %ra, %rb, %rc; madc.hi.cc.u32 %ro, %ra, %rb, %rc; addc.u32 %ro, %ro, %rd;");
  }

  private static String bits(String type) {
    return "b" + type.replaceAll("[^0-9]", "");
  }

  private void shifts() {
    for (String t : List.of("b16", "b32", "b64")) {
      String p = prefix(t);
      for (String op : List.of("and", "or", "xor")) {
        uniform(op, t, 2, 0);
      }
      uniform("not", t, 1, 0);
      uniform("cnot", t, 1, 0);
      add("shl." + t, Operands.INTEGER, t, 0, "shl." + t + " " + p + "o, " + p + "a, %rb;");
      add(
          "shl." + t + " small",
          Operands.INTEGER,
          t,
          0,
          "and.b32 %rb, %rb, 127; shl." + t + " " + p + "o, " + p + "a, %rb;");
      for (String s : List.of("u", "s")) {
        String st = s + t.substring(1);
        add("shr." + st, Operands.INTEGER, t, 0, "shr." + st + " " + p + "o, " + p + "a, %rb;");
        add(
            "shr." + st + " small",
            Operands.INTEGER,
            t,
            0,
            "and.b32 %rb, %rb, 127; shr." + st + " " + p + "o, " + p + "a, %rb;");
      }
    }
    for (String mode : List.of("clamp", "wrap")) {
      for (String way : List.of("l", "r")) {
        add(
            "shf." + way + "." + mode,
            Operands.INTEGER,
            "b32",
            0,
            "and.b32 %rc, %rc, 127; shf." + way + "." + mode + ".b32 %ro, %ra, %rb, %rc;");
      }
    }
    for (String mode : List.of("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")) {
      add("prmt" + mode, Operands.INTEGER, "b32", 0, "prmt.b32" + mode + " %ro, %ra, %rb, %rc;");
    }
    for (int table : new int[] {0xe8, 0x96, 0x1b, 0x80, 0xfe, 0x35}) {
      add(
          "lop3 " + table,
          Operands.INTEGER,
          "b32",
          0,
          "lop3.b32 %ro, %ra, %rb, %rc, " + table + ";");
    }
  }

  private void comparisons() {
    for (String t : List.of("u16", "s16", "u32", "s32", "u64", "s64")) {
      for (String op : List.of("eq", "ne", "lt", "le", "gt", "ge")) {
        compare(op, t);
      }
    }
    for (String t : List.of("f32", "f64", "f16")) {
      for (String op :
          List.of(
              "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num",
              "nan")) {
        compare(op, t);
      }
    }
    for (String t : List.of("f32", "f64")) {
      String p = prefix(t);
      for (String test :
          List.of("finite", "infinite", "number", "notanumber", "normal", "subnormal")) {
        add(
            "testp." + test + "." + t,
            operandsOf(t),
            "pred",
            0,
            "testp." + test + "." + t + " %po, " + p + "a;");
      }
    }
    add("slct.s32.f32", Operands.FLOAT, "b32", 0, "slct.s32.f32 %ro, %ra, %rb, %fc;");
    add("set.lt.u32.f32", Operands.FLOAT, "b32", 0, "set.lt.u32.f32 %ro, %fa, %fb;");
    add(
        "set.ge.f32.s32",
        Operands.INTEGER,
        "b32",
        0,
        "set.ge.f32.s32 %fo, %ra, %rb; mov.b32 %ro, %fo;");
  }

  private void compare(String op, String t) {
    String p = prefix(t);
    add(
        "setp." + op + "." + t,
        operandsOf(t),
        "pred",
        0,
        "setp." + op + "." + t + " %po, " + p + "a, " + p + "b;");
  }

  private void floats() {
    for (String t : List.of("f32", "f64")) {
      for (String rounding : List.of("rn", "rz", "rm", "rp")) {
        for (String op : List.of("add", "sub", "mul", "div")) {
          uniform(op + "." + rounding, t, 2, 0);
        }
        uniform("fma." + rounding, t, 3, 0);
        uniform("rcp." + rounding, t, 1, 0);
        uniform("sqrt." + rounding, t, 1, 0);
      }
      uniform("min", t, 2, 0);
      uniform("max", t, 2, 0);
      uniform("abs", t, 1, 0);
      uniform("neg", t, 1, 0);
      uniform("copysign", t, 2, 0);
    }
    for (String op :
        List.of(
            "add.rn.ftz",
            "mul.rn.ftz",
            "sub.rn.ftz",
            "add.rn.sat",
            "mul.rn.ftz.sat",
            "min.ftz",
            "max.ftz")) {
      uniform(op, "f32", 2, 0);
    }
    uniform("fma.rn.ftz", "f32", 3, 0);
    uniform("fma.rn.sat", "f32", 3, 0);
    uniform("min.NaN", "f32", 2, 0);
    uniform("max.NaN", "f32", 2, 0);
    uniform("min.xorsign.abs", "f32", 2, 0);
    uniform("max.NaN.xorsign.abs", "f32", 2, 0);
    // PTX ISA: the greatest errors of the approximations.
    uniform("rcp.approx", "f32", 1, 1);
    uniform("rcp.approx.ftz", "f32", 1, 1);
    uniform("rsqrt.approx", "f32", 1, 2);
    uniform("sqrt.approx", "f32", 1, 2);
    uniform("div.approx", "f32", 2, 2);
    uniform("div.full", "f32", 2, 2);
    uniform("ex2.approx", "f32", 1, 3);
    uniform("ex2.approx.ftz", "f32", 1, 3);
  }

  private void halves() {
    for (String t : List.of("f16", "bf16", "f16x2", "bf16x2")) {
      if (!t.startsWith("bf")) {
        for (String op : List.of("add", "sub", "mul")) {
          uniform(op + ".rn", t, 2, 0);
        }
        uniform("add.sat", t, 2, 0);
        uniform("fma.rn.sat", t, 3, 0);
      } else {
        for (String op : List.of("add", "sub", "mul")) {
          uniform(op + ".rn", t, 2, 0);
        }
      }
      uniform("fma.rn", t, 3, 0);
      uniform("fma.rn.relu", t, 3, 0);
      uniform("min", t, 2, 0);
      uniform("max", t, 2, 0);
      uniform("min.NaN", t, 2, 0);
      uniform("abs", t, 1, 0);
      uniform("neg", t, 1, 0);
      uniform("tanh.approx", t, 1, 2);
    }
    uniform("ex2.approx", "f16", 1, 1);
  }

  private void conversions() {
    List<String> integers = List.of("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64");
    for (String to : integers) {
      for (String from : integers) {
        convert("", to, from, 0);
        if (narrows(to, from)) {
          convert(".sat", to, from, 0);
        }
      }
      for (String from : List.of("f32", "f64", "f16")) {
        for (String r : List.of(".rni", ".rzi", ".rmi", ".rpi")) {
          convert(r, to, from, 0);
        }
      }
      for (String into : List.of("f32", "f64", "f16")) {
        for (String r : List.of(".rn", ".rz", ".rm", ".rp")) {
          convert(r, into, to, 0);
        }
      }
    }
    for (String r : List.of(".rn", ".rz", ".rm", ".rp")) {
      convert(r, "f32", "f64", 0);
    }
    for (String r : List.of(".rn", ".rz")) {
      convert(r, "f16", "f32", 0);
      convert(r, "bf16", "f32", 0);
      convert(r + ".relu", "f16", "f32", 0);
      add(
          "cvt" + r + ".f16x2.f32",
          Operands.FLOAT,
          "f16x2",
          0,
          "cvt" + r + ".f16x2.f32 %ro, %fa, %fb;");
      add(
          "cvt" + r + ".bf16x2.f32",
          Operands.FLOAT,
          "bf16x2",
          0,
          "cvt" + r + ".bf16x2.f32 %ro, %fa, %fb;");
    }
    convert(".rn", "f16", "f64", 0);
    convert("", "f64", "f32", 0);
    convert("", "f32", "f16", 0);
    convert("", "f64", "f16", 0);
    convert("", "f32", "bf16", 0);
    for (String t : List.of("f32", "f64", "f16")) {
      for (String r : List.of(".rni", ".rzi", ".rmi", ".rpi")) {
        convert(r, t, t, 0);
      }
    }
    convert(".sat", "f32", "f32", 0);
    convert(".ftz", "f32", "f32", 0);
    add("cvt.rna.tf32.f32", Operands.FLOAT, "b32 tf32", 0, "cvt.rna.tf32.f32 %ro, %fa;");
    for (String t : List.of("u16", "s16")) {
      add(
          "cvt.pack.sat." + t,
          Operands.INTEGER,
          "b32",
          0,
          "cvt.pack.sat." + t + ".s32 %ro, %ra, %rb;");
    }
    for (String t : List.of("u8", "s8")) {
      add(
          "cvt.pack.sat." + t,
          Operands.INTEGER,
          "b32",
          0,
          "cvt.pack.sat." + t + ".s32.b32 %ro, %ra, %rb, %rc;");
    }
  }

  private void eightBits() {
    for (String type : List.of("e4m3x2", "e5m2x2")) {
      for (String relu : List.of("", ".relu")) {
        String down = "cvt.rn.satfinite" + relu + "." + type;
        add(down + ".f32", Operands.FLOAT, "b16", 0, down + ".f32 %ho, %fa, %fb;");
        add(down + ".f16x2", Operands.HALF, "b16", 0, down + ".f16x2 %ho, %ra;");
        String up = "cvt.rn" + relu + ".f16x2." + type;
        add(up, Operands.INTEGER, "f16x2", 0, up + " %ro, %ha;");
      }
    }
  }

  /** SIMD video instructions: each sum and difference of signed and unsigned lanes. */
  private void video() {
    List<String> types = List.of("u32", "s32");
    for (String op : List.of("vadd", "vsub", "vabsdiff", "vmin", "vmax")) {
      for (String lanes : List.of("2", "4")) {
        for (String to : types) {
          for (String a : types) {
            for (String b : types) {
              for (String end : List.of("", ".sat", ".add")) {
                String text = op + lanes + "." + to + "." + a + "." + b + end;
                add(text, Operands.INTEGER, "b32", 0, text + " %ro, %ra, %rb, %rc;");
              }
            }
          }
        }
      }
    }
  }

  /** Whether a type lacks some values of another: only then may a conversion saturate. */
  private static boolean narrows(String to, String from) {
    int toBits = Integer.parseInt(to.substring(1));
    int fromBits = Integer.parseInt(from.substring(1));
    if (from.startsWith("s")) {
      return to.startsWith("u") || toBits < fromBits;
    }
    return to.startsWith("s") ? toBits <= fromBits : toBits < fromBits;
  }

  private void convert(String rounding, String to, String from, int ulps) {
    String source = from.endsWith("8") ? "%ra" : prefix(from) + "a";
    String target = to.endsWith("8") ? "%ro" : prefix(to) + "o";
    String result = to.endsWith("8") ? "b32" : resultOf(to);
    add(
        "cvt" + rounding + "." + to + "." + from,
        operandsOf(from),
        result,
        ulps,
        "cvt" + rounding + "." + to + "." + from + " " + target + ", " + source + ";");
  }

  // ---- PTX and operands

  /** The module with the kernels of some cases. */
  public static String ptx(List<Case> cases) {
    StringBuilder out = new StringBuilder(".version 8.4\n.target sm_90\n.address_size 64\n");
    out.append(WideCases.VARIABLES);
    cases.forEach(c -> out.append(kernel(c)));
    return out.toString();
  }

  private static String kernel(Case c) {
    String finish =
        switch (c.result) {
          case "b16", "f16", "bf16" -> "cvt.u64.u16 %lr, %ho;";
          case "b64" -> "mov.b64 %lr, %lo;";
          case "f32" -> "mov.b32 %ro, %fo; cvt.u64.u32 %lr, %ro;";
          case "f64" -> "mov.b64 %lr, %do;";
          case "pred" -> "selp.u64 %lr, 1, 0, %po;";
          default -> "cvt.u64.u32 %lr, %ro;";
        };
    return """
        .visible .entry %s(.param .u64 in, .param .u64 out) %s{ // %s
          .reg .pred %%p0, %%po;
          .reg .b16 %%ha, %%hb, %%hc, %%ho;
          .reg .b32 %%ra, %%rb, %%rc, %%rd, %%ro, %%t, %%n, %%b;
          .reg .b64 %%la, %%lb, %%lc, %%lo, %%lr, %%pi, %%po64, %%i;
          .reg .f32 %%fa, %%fb, %%fc, %%fo;
          .reg .f64 %%da, %%db, %%dc, %%do;
          mov.u32 %%t, %%tid.x; mov.u32 %%n, %%ntid.x; mov.u32 %%b, %%ctaid.x;
          mad.lo.u32 %%t, %%b, %%n, %%t;
          ld.param.u64 %%pi, [in]; ld.param.u64 %%po64, [out];
          mul.wide.u32 %%i, %%t, 24; add.u64 %%pi, %%pi, %%i;
          mul.wide.u32 %%i, %%t, 8; add.u64 %%po64, %%po64, %%i;
          ld.global.u64 %%la, [%%pi]; ld.global.u64 %%lb, [%%pi+8]; ld.global.u64 %%lc, [%%pi+16];
          cvt.u16.u64 %%ha, %%la; cvt.u16.u64 %%hb, %%lb; cvt.u16.u64 %%hc, %%lc; mov.u16 %%ho, 0;
          cvt.u32.u64 %%ra, %%la; cvt.u32.u64 %%rb, %%lb; cvt.u32.u64 %%rc, %%lc;
          mov.u32 %%ro, 0; mov.u64 %%lo, 0; shr.u32 %%rd, %%rc, 8;
          mov.b32 %%fa, %%ra; mov.b32 %%fb, %%rb; mov.b32 %%fc, %%rc; mov.f32 %%fo, 0f00000000;
          mov.b64 %%da, %%la; mov.b64 %%db, %%lb; mov.b64 %%dc, %%lc; mov.f64 %%do, 0d0000000000000000;
          { %s }
          %s
          st.global.u64 [%%po64], %%lr;
          ret;
        }
        """
        .formatted(c.kernel, c.directives, c.text, c.body, finish);
  }

  private static final long[] INTEGERS = {
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fffffffL,
    0x80000000L,
    0x80000001L,
    0xffffffffL,
    0x100000000L,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -1,
    -2,
    -128,
    -129,
    -32768,
    -32769,
    0x123456789abcdefL
  };

  private static final int[] FLOATS = {
    0,
    0x80000000,
    0x3f800000,
    0xbf800000,
    1,
    0x80000001,
    0x007fffff,
    0x00800000,
    0x7f7fffff,
    0xff7fffff,
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0x3f000000,
    0xbf000000,
    0x3fc00000,
    0x40200000,
    0x4b000000,
    0x4b000001,
    0x4effffff,
    0x4f000000,
    0xcf000000,
    0x4f7fffff,
    0x4f800000,
    0x5f000000,
    0x5f800000,
    0xdf000000,
    0x3f7fffff,
    0x3f800001,
    0x477fe000,
    0x477ff000,
    0x33000000,
    0x38800000,
    0x7e800000,
    0x00400000,
    0x42b17218
  };

  /** {@link #ROWS} rows of three operands. */
  public static long[] operands(Operands kind) {
    Random random = new Random(kind.ordinal() + 1);
    long[] rows = new long[ROWS * 3];
    int edges = kind == Operands.INTEGER ? INTEGERS.length : FLOATS.length;
    for (int row = 0; row < ROWS; row++) {
      // First all pairs of edges, then edges with random numbers, then random numbers.
      boolean pair = row < edges * edges;
      boolean mixed = row < edges * edges + 200;
      rows[3 * row] = pair ? edge(kind, row % edges) : any(kind, random);
      rows[3 * row + 1] =
          mixed ? edge(kind, pair ? row / edges : random.nextInt(edges)) : any(kind, random);
      rows[3 * row + 2] =
          random.nextBoolean() ? edge(kind, random.nextInt(edges)) : any(kind, random);
    }
    return rows;
  }

  private static long edge(Operands kind, int i) {
    float f = Float.intBitsToFloat(FLOATS[i % FLOATS.length]);
    return switch (kind) {
      case INTEGER -> INTEGERS[i];
      case FLOAT -> FLOATS[i] & 0xffffffffL;
      case DOUBLE -> i % 5 == 4 ? doubleEdge(i) : Double.doubleToRawLongBits(f);
      case HALF -> halfEdge(i) | (long) halfEdge(i + 5) << 16;
      case BFLOAT -> FLOATS[i] >>> 16 | (long) (FLOATS[(i + 7) % FLOATS.length] >>> 16) << 16;
    };
  }

  private static long doubleEdge(int i) {
    long[] edges = {
      1,
      0x000fffffffffffffL,
      0x0010000000000000L,
      0x7fefffffffffffffL,
      0x43e0000000000000L,
      0x433fffffffffffffL,
      0x3ff0000000000001L
    };
    return edges[i / 5 % edges.length];
  }

  private static int halfEdge(int i) {
    int[] edges = {
      0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
      0x3c01, 0x3bff, 0x6400, 0x6401, 0x5bff, 0x7800
    };
    return edges[i % edges.length];
  }

  private static long any(Operands kind, Random random) {
    return switch (kind) {
      case INTEGER -> random.nextInt(4) == 0 ? random.nextInt(200) - 100 : random.nextLong();
      case FLOAT ->
          (random.nextBoolean()
                  ? Float.floatToRawIntBits((float) (random.nextGaussian() * 50))
                  : random.nextInt())
              & 0xffffffffL;
      case DOUBLE ->
          random.nextBoolean()
              ? Double.doubleToRawLongBits(random.nextGaussian() * 50)
              : random.nextLong();
      case HALF, BFLOAT -> random.nextInt() & 0xffffffffL;
    };
  }
}
