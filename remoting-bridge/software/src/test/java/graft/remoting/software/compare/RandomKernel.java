package graft.remoting.software.compare;

import java.util.Random;

/**
 * Random kernels with a result that PTX defines: integer and float arithmetic, nested branches and
 * loops, shared memory between barriers, shuffles and votes where all threads are.
 */
public final class RandomKernel {
  private static final int INTS = 8;
  private static final int FLOATS = 5;
  private static final int LONGS = 3;

  private final Random random;
  private final StringBuilder out = new StringBuilder();
  private int labels;
  private int depth;

  private RandomKernel(long seed) {
    random = new Random(seed);
  }

  /**
   * The text of a kernel {@code name(in, out)} for blocks of 64 threads: {@code in} holds 256
   * words, and each thread writes 8 words.
   */
  public static String kernel(String name, long seed) {
    return new RandomKernel(seed).write(name);
  }

  private void line(String text) {
    out.append("  ").append(text).append('\n');
  }

  private String integer() {
    return "%r" + random.nextInt(INTS);
  }

  private String integerOrConstant() {
    return random.nextInt(4) == 0 ? String.valueOf(random.nextInt(2000) - 1000) : integer();
  }

  private String single() {
    return "%f" + random.nextInt(FLOATS);
  }

  private String wide() {
    return "%l" + random.nextInt(LONGS);
  }

  private String label() {
    return "$L" + labels++;
  }

  private String write(String name) {
    out.append(".visible .entry ").append(name).append("(.param .u64 in, .param .u64 out) {\n");
    line(
        ".reg .pred %p<4>; .reg .b32 %r<"
            + INTS
            + ">, %t<8>, %loop<64>; .reg .b64 %l<"
            + LONGS
            + ">, %a<6>;");
    line(".reg .f32 %f<" + FLOATS + ">, %g<4>;");
    line(".shared .align 8 .b32 words[128];");
    line("mov.u32 %t0, %tid.x; mov.u32 %t1, %ctaid.x; mad.lo.u32 %t2, %t1, 64, %t0;");
    line("ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out];");
    line(
        "mul.wide.u32 %a2, %t2, 32; add.u64 %a1, %a1, %a2; mul.wide.u32 %a2, %t0, 4; add.u64 %a2, %a0, %a2;");
    for (int i = 0; i < INTS; i++) {
      line(
          i < 3
              ? "ld.global.u32 %r" + i + ", [%a2+" + 256 * i + "];"
              : "mad.lo.u32 %r" + i + ", %t2, " + (2 * i + 1) + ", " + random.nextInt() + ";");
    }
    for (int i = 0; i < LONGS; i++) {
      line("mul.wide.s32 %l" + i + ", %r" + i + ", %r" + (i + 1) + ";");
    }
    for (int i = 0; i < FLOATS; i++) {
      line(
          "cvt.rn.f32.s32 %f"
              + i
              + ", %r"
              + i
              + "; mul.rn.f32 %f"
              + i
              + ", %f"
              + i
              + ", 0f"
              + String.format("%08X", Float.floatToRawIntBits((float) Math.scalb(1, -10 - 4 * i)))
              + ";");
    }
    statements(12 + random.nextInt(16), true);
    for (int i = 0; i < 4; i++) {
      line(
          "xor.b32 %r"
              + i
              + ", %r"
              + i
              + ", %r"
              + (i + 4)
              + "; st.global.u32 [%a1+"
              + 4 * i
              + "], %r"
              + i
              + ";");
    }
    line(
        "st.global.u64 [%a1+16], %l0; xor.b64 %l1, %l1, %l2; cvt.u32.u64 %t3, %l1; st.global.u32 [%a1+24], %t3;");
    for (int i = 1; i < FLOATS; i++) {
      line("add.rn.f32 %f0, %f0, %f" + i + ";");
    }
    // The bits of a NaN are not defined.
    line(
        "setp.nan.f32 %p0, %f0, %f0; mov.b32 %t4, %f0; selp.b32 %t4, 2147483647, %t4, %p0; st.global.u32 [%a1+28], %t4;");
    line("ret;");
    out.append("}\n");
    return out.toString();
  }

  private void statements(int count, boolean together) {
    for (int i = 0; i < count; i++) {
      int kind = random.nextInt(20);
      if (kind < 8) {
        integerOperation();
      } else if (kind < 12) {
        floatOperation();
      } else if (kind < 14) {
        wideOperation();
      } else if (kind < 16 && depth < 3) {
        branch();
      } else if (kind < 17 && depth < 2) {
        loop(together);
      } else if (together) {
        exchange();
      } else {
        integerOperation();
      }
    }
  }

  private void condition(String p) {
    String[] comparisons = {"eq", "ne", "lt", "le", "gt", "ge"};
    String c = comparisons[random.nextInt(6)];
    switch (random.nextInt(3)) {
      case 0 -> line("setp." + c + ".f32 " + p + ", " + single() + ", " + single() + ";");
      case 1 ->
          line("setp." + c + ".u32 " + p + ", " + integer() + ", " + integerOrConstant() + ";");
      default ->
          line(
              "and.b32 %t5, "
                  + integer()
                  + ", 7; setp."
                  + c
                  + ".s32 "
                  + p
                  + ", %t5, "
                  + random.nextInt(8)
                  + ";");
    }
  }

  private void integerOperation() {
    String d = integer();
    String a = integer();
    String b = integerOrConstant();
    String[] two = {
      "add.s32",
      "sub.s32",
      "mul.lo.s32",
      "mul.hi.u32",
      "mul.hi.s32",
      "and.b32",
      "or.b32",
      "xor.b32",
      "min.s32",
      "max.u32",
      "min.u32"
    };
    switch (random.nextInt(9)) {
      case 0 -> line("mad.lo.s32 " + d + ", " + a + ", " + b + ", " + integer() + ";");
      case 1 ->
          line(
              "and.b32 %t5, "
                  + integer()
                  + ", 63; "
                  + (random.nextBoolean() ? "shl.b32 " : "shr.s32 ")
                  + d
                  + ", "
                  + a
                  + ", %t5;");
      case 2 -> {
        // ptxas 13.0 gets some tables wrong when an operand is repeated.
        int first = random.nextInt(INTS);
        int second = (first + 1 + random.nextInt(3)) % INTS;
        int third = (first + 4 + random.nextInt(3)) % INTS;
        line(
            "lop3.b32 "
                + d
                + ", %r"
                + first
                + ", %r"
                + second
                + ", %r"
                + third
                + ", "
                + random.nextInt(256)
                + ";");
      }
      case 3 ->
          line(
              "or.b32 %t5, "
                  + integer()
                  + ", 1; "
                  + (random.nextBoolean() ? "div.u32 " : "rem.u32 ")
                  + d
                  + ", "
                  + a
                  + ", %t5;");
      case 4 -> {
        String[] one = {"not.b32", "popc.b32", "clz.b32", "brev.b32", "bfind.u32"};
        line(one[random.nextInt(5)] + " " + d + ", " + a + ";");
      }
      case 5 ->
          line(
              (random.nextBoolean() ? "bfe.s32 " : "bfe.u32 ")
                  + d
                  + ", "
                  + a
                  + ", "
                  + random.nextInt(32)
                  + ", "
                  + random.nextInt(33)
                  + ";");
      case 6 -> {
        condition("%p1");
        line("selp.b32 " + d + ", " + a + ", " + integer() + ", %p1;");
      }
      case 7 -> {
        condition("%p1");
        line(
            "@"
                + (random.nextBoolean() ? "!" : "")
                + "%p1 add.s32 "
                + d
                + ", "
                + a
                + ", "
                + b
                + ";");
      }
      default -> line(two[random.nextInt(two.length)] + " " + d + ", " + a + ", " + b + ";");
    }
  }

  private void floatOperation() {
    String d = single();
    String a = single();
    String b = single();
    switch (random.nextInt(8)) {
      case 0 -> line("fma.rn.f32 " + d + ", " + a + ", " + b + ", " + single() + ";");
      case 1 -> line("div.rn.f32 " + d + ", " + a + ", " + b + ";");
      case 2 -> line("abs.f32 %g0, " + a + "; sqrt.rn.f32 " + d + ", %g0;");
      case 3 ->
          line((random.nextBoolean() ? "min" : "max") + ".f32 " + d + ", " + a + ", " + b + ";");
      case 4 -> line("cvt.rzi.s32.f32 " + integer() + ", " + a + ";");
      case 5 -> line("cvt.rn.f32.u32 " + d + ", " + integer() + ";");
      default ->
          line(
              (random.nextBoolean() ? "add" : "mul")
                  + (random.nextInt(4) == 0 ? ".rz" : ".rn")
                  + ".f32 "
                  + d
                  + ", "
                  + a
                  + ", "
                  + b
                  + ";");
    }
  }

  private void wideOperation() {
    String d = wide();
    switch (random.nextInt(6)) {
      case 0 ->
          line("mad.wide.s32 " + d + ", " + integer() + ", " + integer() + ", " + wide() + ";");
      case 1 -> line("mul.lo.s64 " + d + ", " + wide() + ", " + wide() + ";");
      case 2 -> line("shr.u64 " + d + ", " + wide() + ", " + random.nextInt(70) + ";");
      case 3 -> line("cvt.u32.u64 " + integer() + ", " + wide() + ";");
      case 4 ->
          line("mov.b64 {%t5, %t6}, " + wide() + "; mov.b64 " + d + ", {%t6, " + integer() + "};");
      default ->
          line(
              (random.nextBoolean() ? "add.s64 " : "sub.s64 ")
                  + d
                  + ", "
                  + wide()
                  + ", "
                  + wide()
                  + ";");
    }
  }

  private void branch() {
    String otherwise = label();
    String end = label();
    condition("%p2");
    line("@%p2 bra " + otherwise + ";");
    depth++;
    statements(1 + random.nextInt(4), false);
    line("bra " + end + ";");
    line(otherwise + ":");
    statements(random.nextInt(4), false);
    depth--;
    line(end + ":");
    // Nothing below a branch needs the threads to meet again by themselves.
    line("bar.warp.sync -1;".repeat(depth == 0 ? 1 : 0));
  }

  private void loop(boolean together) {
    String counter = "%loop" + labels;
    String start = label();
    // All threads go around equally often if they must meet inside.
    if (together && random.nextBoolean()) {
      line("mov.u32 " + counter + ", " + (1 + random.nextInt(4)) + ";");
      line(start + ":");
      depth++;
      statements(1 + random.nextInt(4), true);
    } else {
      line("and.b32 " + counter + ", " + integer() + ", 3;");
      line("add.s32 " + counter + ", " + counter + ", 1;");
      line(start + ":");
      depth++;
      statements(1 + random.nextInt(4), false);
    }
    depth--;
    line("sub.s32 " + counter + ", " + counter + ", 1; setp.gt.s32 %p3, " + counter + ", 0;");
    line("@%p3 bra " + start + ";");
  }

  private void exchange() {
    String d = integer();
    String a = integer();
    switch (random.nextInt(6)) {
      case 0 -> {
        int step = 1 + random.nextInt(63);
        line(
            "barrier.sync 0; shl.b32 %t5, %t0, 2; mov.u32 %t6, words; add.u32 %t5, %t5, %t6; st.shared.u32 [%t5], "
                + a
                + "; barrier.sync 0;");
        line(
            "add.u32 %t5, %t0, "
                + step
                + "; and.b32 %t5, %t5, 63; shl.b32 %t5, %t5, 2; add.u32 %t5, %t5, %t6; ld.shared.u32 "
                + d
                + ", [%t5];");
      }
      case 1 ->
          line("shfl.sync.bfly.b32 " + d + "|%p1, " + a + ", " + random.nextInt(32) + ", 31, -1;");
      case 2 ->
          line(
              "and.b32 %t5, "
                  + integer()
                  + ", 31; shfl.sync.idx.b32 "
                  + d
                  + ", "
                  + a
                  + ", %t5, 31, -1;");
      case 3 ->
          line(
              "shfl.sync."
                  + (random.nextBoolean() ? "up" : "down")
                  + ".b32 "
                  + d
                  + ", "
                  + a
                  + ", "
                  + random.nextInt(8)
                  + ", "
                  + "0"
                  + ", -1;");
      case 4 -> {
        condition("%p1");
        line("vote.sync.ballot.b32 " + d + ", %p1, -1;");
      }
      default -> {
        condition("%p1");
        line("barrier.red.popc.u32 " + d + ", 0, %p1;");
      }
    }
  }
}
