package graft.remoting.software.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * Kernels with one matrix instruction each. Floating-point elements are small whole numbers, so
 * that every order of additions gives the same bits; where they are not, they are all positive.
 */
final class MatrixCases {
  private final List<Form> cases = new ArrayList<>();

  private MatrixCases() {}

  static List<Form> all() {
    MatrixCases c = new MatrixCases();
    for (String shape : List.of("m16n8k8", "m16n8k16")) {
      c.product(shape, "f32", "f16", "f16", "");
      c.product(shape, "f16", "f16", "f16", "");
      c.product(shape, "f32", "bf16", "bf16", "");
    }
    c.product("m16n8k4", "f32", "tf32", "tf32", "");
    c.product("m16n8k8", "f32", "tf32", "tf32", "");
    for (String shape : List.of("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")) {
      c.product(shape, "f64", "f64", "f64", "");
    }
    for (String a : List.of("e4m3", "e5m2")) {
      for (String b : List.of("e4m3", "e5m2")) {
        c.product("m16n8k32", "f32", a, b, "");
      }
    }
    for (String saturate : List.of("", ".satfinite")) {
      for (String a : List.of("s8", "u8")) {
        for (String b : List.of("s8", "u8")) {
          for (String shape : List.of("m8n8k16", "m16n8k16", "m16n8k32")) {
            c.product(shape, "s32", a, b, saturate);
          }
        }
      }
      for (String a : List.of("s4", "u4")) {
        for (String shape : List.of("m8n8k32", "m16n8k32", "m16n8k64")) {
          c.product(shape, "s32", a, a, saturate);
        }
      }
    }
    for (String shape : List.of("m8n8k128", "m16n8k128", "m16n8k256")) {
      c.product(shape, "s32", "b1", "b1", ".and.popc");
      c.product(shape, "s32", "b1", "b1", ".xor.popc");
    }
    for (String type : List.of("f16", "bf16", "tf32")) {
      c.sums(type);
    }
    for (int count : new int[] {1, 2, 4}) {
      for (String transposed : List.of("", ".trans")) {
        c.rows(count, transposed);
      }
    }
    c.cases.add(new Form("movmatrix", "b32", 0, "movmatrix.sync.aligned.m8n8.trans.b16 %ro, %ra;"));
    return c.cases;
  }

  private static int bits(String type) {
    return switch (type) {
      case "b1" -> 1;
      case "s4", "u4" -> 4;
      case "s8", "u8", "e4m3", "e5m2" -> 8;
      case "f16", "bf16" -> 16;
      case "f64" -> 64;
      default -> 32;
    };
  }

  /** Registers of a fragment with a number of elements in all. */
  private static int registers(int elements, String type) {
    return Math.max(1, elements * bits(type) / 32 / Math.max(32, bits(type)));
  }

  private static String names(String prefix, int count) {
    StringBuilder out = new StringBuilder("{");
    for (int k = 0; k < count; k++) {
      out.append(k == 0 ? "" : ", ").append(prefix).append(k);
    }
    return out.append("}").toString();
  }

  /** Declares a fragment and fills it from an operand of the thread. */
  private static String fill(String prefix, int count, String type, String source) {
    String register = type.equals("f64") ? ".b64" : ".b32";
    StringBuilder out = new StringBuilder(".reg " + register + " " + prefix + "<" + count + ">; ");
    for (int k = 0; k < count; k++) {
      out.append(element(prefix + k, type, source, k));
    }
    return out.toString();
  }

  private static String element(String target, String type, String source, int k) {
    String mixed = "mad.lo.u32 %m0, " + source + ", 0x9e3779b1, " + (k * 0x3c6ef + 7) + "; ";
    String spread = "shr.u32 %m1, %m0, 15; xor.b32 %m0, %m0, %m1; ";
    return mixed
        + spread
        + switch (type) {
          case "f16" -> small("%m1", 3) + small("%m2", 9) + pair("f16x2", target);
          case "bf16" -> small("%m1", 3) + small("%m2", 9) + pair("bf16x2", target);
          case "e4m3", "e5m2" ->
              small("%m1", 3)
                  + small("%m2", 9)
                  + pair8(type, "%mh0")
                  + small("%m1", 13)
                  + small("%m2", 21)
                  + pair8(type, "%mh1")
                  + "mov.b32 "
                  + target
                  + ", {%mh0, %mh1}; ";
          case "tf32", "f32" ->
              small("%m1", 5) + "cvt.rn.f32.s32 %mf0, %m1; mov.b32 " + target + ", %mf0; ";
          case "f64" ->
              small("%m1", 5) + "cvt.rn.f64.s32 %md0, %m1; mov.b64 " + target + ", %md0; ";
          default -> "mov.b32 " + target + ", %m0; ";
        };
  }

  /** A whole number from -8 to 7. */
  private static String small(String target, int shift) {
    return "shr.u32 "
        + target
        + ", %m0, "
        + shift
        + "; and.b32 "
        + target
        + ", "
        + target
        + ", 15; sub.s32 "
        + target
        + ", "
        + target
        + ", 8; ";
  }

  private static String pair(String type, String target) {
    return "cvt.rn.f32.s32 %mf0, %m1; cvt.rn.f32.s32 %mf1, %m2; cvt.rn."
        + type
        + ".f32 "
        + target
        + ", %mf0, %mf1; ";
  }

  private static String pair8(String type, String target) {
    return "cvt.rn.f32.s32 %mf0, %m1; cvt.rn.f32.s32 %mf1, %m2; cvt.rn.satfinite."
        + type
        + "x2.f32 "
        + target
        + ", %mf0, %mf1; ";
  }

  private static final String SCRATCH =
      ".reg .b32 %m<3>; .reg .b16 %mh<2>; .reg .f32 %mf<2>; .reg .f64 %md<1>; .reg .b64 %ml<2>; ";

  /** Folds the registers of a result into %lo. */
  private static String fold(String prefix, int count, boolean wide) {
    StringBuilder out = new StringBuilder();
    for (int k = 0; k < count; k++) {
      out.append(wide ? "mov.b64 %ml0, " : "cvt.u64.u32 %ml0, ").append(prefix).append(k);
      out.append("; mad.lo.u64 %lo, %lo, 0x100000001b3, %ml0; ");
    }
    return out.toString();
  }

  private static int[] shape(String shape) {
    String[] parts = shape.substring(1).split("[nk]");
    return new int[] {
      Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2])
    };
  }

  private void product(String shape, String sum, String a, String b, String modifier) {
    int[] mnk = shape(shape);
    int countA = registers(mnk[0] * mnk[2], a);
    int countB = registers(mnk[1] * mnk[2], b);
    int countC = registers(mnk[0] * mnk[1], sum);
    boolean logic = modifier.endsWith("popc");
    String types = "." + sum + "." + a + "." + b + "." + sum;
    String name =
        "mma.sync.aligned." + shape + ".row.col" + (logic ? types + modifier : modifier + types);
    String body =
        SCRATCH
            + fill("%a", countA, a, "%ra")
            + fill("%b", countB, b, "%rb")
            + fill("%c", countC, sum, "%rc")
            + name
            + " "
            + names("%c", countC)
            + ", "
            + names("%a", countA)
            + ", "
            + names("%b", countB)
            + ", "
            + names("%c", countC)
            + "; "
            + fold("%c", countC, sum.equals("f64"));
    cases.add(new Form(name, "b64", 0, body));
  }

  /** Positive numbers between 1 and 2 with all their bits: how the GPU rounds sums. */
  private void sums(String type) {
    boolean tf32 = type.equals("tf32");
    StringBuilder body = new StringBuilder(".reg .b32 %a<4>; .reg .b32 %b<2>; .reg .f32 %c<4>; ");
    for (String r : List.of("%a0", "%a1", "%a2", "%a3", "%b0", "%b1")) {
      String mask = tf32 ? "0x007fe000" : type.equals("f16") ? "0x03ff03ff" : "0x007f007f";
      String one = tf32 ? "0x3f800000" : type.equals("f16") ? "0x3c003c00" : "0x3f803f80";
      body.append("mad.lo.u32 %rd, %ra, 0x9e3779b1, %rb; add.u32 %ra, %ra, %rd; and.b32 ")
          .append(r)
          .append(", %rd, ")
          .append(mask)
          .append("; or.b32 ")
          .append(r)
          .append(", ")
          .append(r)
          .append(", ")
          .append(one)
          .append("; ");
    }
    String name =
        "mma.sync.aligned.m16n8"
            + (tf32 ? "k8" : "k16")
            + ".row.col.f32."
            + type
            + "."
            + type
            + ".f32";
    body.append("mov.f32 %c0, 0f3DCCCCCD; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0; ")
        .append(name)
        .append(" {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}; ")
        .append("mov.f32 %fo, %c1;");
    cases.add(new Form(name + " of fractions", "f32", 8, body.toString()));
  }

  private void rows(int count, String transposed) {
    String name = "ldmatrix.sync.aligned.m8n8.x" + count + transposed + ".shared.b16";
    String registers = count == 1 ? "{%a0}" : names("%a", count);
    String body =
        SCRATCH
            + ".reg .b32 %a<4>; .shared .align 16 .b8 tile[2048]; mov.u32 %m0, tile; "
            + "mov.u32 %m1, %tid.x; mad.lo.u32 %m1, %m1, 16, %m0; "
            + "st.shared.v2.b64 [%m1], {%la, %lb}; bar.sync 0; "
            // Each lane gives the address of another lane's row.
            + "xor.b32 %m2, %m1, 0x50; sub.u32 %m2, %m1, %m0; xor.b32 %m2, %m2, 0x50; "
            + "add.u32 %m2, %m2, %m0; "
            + name
            + " "
            + registers
            + ", [%m2]; "
            + fold("%a", count, false);
    cases.add(new Form(name, "b64", 0, body));
    String store = "stmatrix.sync.aligned.m8n8.x" + count + transposed + ".shared.b16";
    String stored =
        SCRATCH
            + fill("%a", 4, "s32", "%ra")
            + ".shared .align 16 .b8 tile[2048]; mov.u32 %m0, tile; "
            + "mov.u32 %m1, %tid.x; mad.lo.u32 %m1, %m1, 16, %m0; "
            + "st.shared.v2.b64 [%m1], {%la, %lb}; bar.sync 0; "
            + store
            + " [%m1], "
            + registers
            + "; bar.sync 0; ld.shared.v2.b64 {%ml0, %ml1}, [%m1]; "
            + "mad.lo.u64 %lo, %ml0, 0x100000001b3, %ml1; ";
    cases.add(new Form(store, "b64", 0, stored));
  }
}
