package graft.remoting.software.compare;

import java.util.ArrayList;
import java.util.List;

/** Kernels with instructions on numbers of 128 bits, in shared and in global memory. */
final class WideCases {
  /** What the kernels need outside of them. */
  static final String VARIABLES = ".global .align 16 .b8 wide[32768];\n";

  private static final String REGISTERS =
      ".reg .b128 %q<6>; .reg .b64 %ml<6>, %at; .reg .b32 %m<2>; .reg .pred %mp<3>; ";

  private final List<Form> cases = new ArrayList<>();

  private WideCases() {}

  static List<Form> all() {
    WideCases c = new WideCases();
    c.moves();
    for (String space : List.of("", ".shared", ".global")) {
      for (String order :
          List.of("", ".volatile", ".relaxed.cta", ".relaxed.gpu", ".relaxed.sys")) {
        c.stored("ld" + order + space, "st" + order + space, space);
      }
      c.stored("ld.acquire.gpu" + space, "st.release.gpu" + space, space);
      c.stored("ld.acquire.cluster" + space, "st.release.sys" + space, space);
      for (String order : List.of("relaxed", "acquire", "release", "acq_rel")) {
        for (String scope : List.of("cta", "cluster", "gpu", "sys")) {
          c.exchanged("." + order + "." + scope + space, space);
          c.swapped("." + order + "." + scope + space, space);
        }
      }
    }
    c.added();
    return c.cases;
  }

  private void moves() {
    add(
        "mov.b128",
        "mov.b128 %q0, {%la, %lb}; mov.b128 %q1, %q0; mov.b128 {%ml0, %ml1}, %q1; "
            + "mov.b128 %q2, {%ml1, %lc}; mov.b128 {%ml2, %ml3}, %q2; "
            + fold(4));
  }

  /** {@code %at} becomes the thread's 16 bytes in a state space. */
  private static String place(String space) {
    boolean shared = space.equals(".shared");
    return (shared
            ? ".shared .align 16 .b8 own[2048]; mov.u64 %at, own; mov.u32 %m0, %tid.x; "
            : "mov.u64 %at, wide; mov.u32 %m0, %t; ")
        + (space.isEmpty() ? "cvta.global.u64 %at, %at; " : "")
        + "mul.wide.u32 %ml0, %m0, 16; add.u64 %at, %at, %ml0; ";
  }

  private void stored(String load, String store, String space) {
    add(
        store + ".b128 and " + load + ".b128",
        place(space)
            + ("mov.b128 %q0, {%la, %lb}; " + store + ".b128 [%at], %q0; ")
            + (load + ".b128 %q1, [%at]; mov.b128 {%ml0, %ml1}, %q1; ")
            + ("ld" + space + ".u64 %ml2, [%at]; ld" + space + ".u64 %ml3, [%at+8]; ")
            + fold(4));
  }

  /** Its memory holds b and c, and takes a and b. */
  private void exchanged(String modifiers, String space) {
    add(
        "atom" + modifiers + ".exch.b128",
        place(space)
            + ("st" + space + ".v2.b64 [%at], {%lb, %lc}; mov.b128 %q0, {%la, %lb}; ")
            + ("atom" + modifiers + ".exch.b128 %q1, [%at], %q0; mov.b128 {%ml0, %ml1}, %q1; ")
            + ("ld" + space + ".v2.b64 {%ml2, %ml3}, [%at]; ")
            + fold(4));
  }

  /**
   * Its memory holds b and c; what is expected differs from that in neither, one or both halves.
   */
  private void swapped(String modifiers, String space) {
    add(
        "atom" + modifiers + ".cas.b128",
        place(space)
            + ("st" + space + ".v2.b64 [%at], {%lb, %lc}; ")
            + "and.b32 %m0, %t, 1; cvt.u64.u32 %ml4, %m0; xor.b64 %ml0, %lb, %ml4; "
            + "and.b32 %m0, %t, 2; cvt.u64.u32 %ml4, %m0; shl.b64 %ml4, %ml4, 62; "
            + "xor.b64 %ml1, %lc, %ml4; mov.b128 %q0, {%ml0, %ml1}; mov.b128 %q1, {%la, %lb}; "
            + ("atom" + modifiers + ".cas.b128 %q2, [%at], %q0, %q1; ")
            + "mov.b128 {%ml0, %ml1}, %q2; "
            + ("ld" + space + ".v2.b64 {%ml2, %ml3}, [%at]; ")
            + fold(4));
  }

  /** All threads of a block add to one number, so that its halves must not be torn. */
  private void added() {
    add(
        "atom.cas.b128 that adds",
        ".shared .align 16 .b8 sum[16]; mov.u32 %m0, sum; mov.b64 %ml0, 0; "
            + "st.shared.v2.b64 [%m0], {%ml0, %ml0}; bar.sync 0; "
            + "ld.relaxed.cta.shared.b128 %q0, [%m0]; "
            + "AGAIN: mov.b128 {%ml0, %ml1}, %q0; "
            + "add.cc.u64 %ml2, %ml0, %la; addc.u64 %ml3, %ml1, %lb; "
            + "mov.b128 %q1, {%ml2, %ml3}; "
            + "atom.relaxed.cta.shared.cas.b128 %q2, [%m0], %q0, %q1; "
            + "mov.b128 {%ml4, %ml5}, %q2; mov.b128 %q0, %q2; "
            + "setp.ne.u64 %mp0, %ml4, %ml0; setp.ne.or.u64 %mp1, %ml5, %ml1, %mp0; "
            + "@%mp1 bra AGAIN; bar.sync 0; ld.shared.v2.b64 {%ml0, %ml1}, [%m0]; "
            + fold(2));
  }

  private static String fold(int count) {
    StringBuilder out = new StringBuilder();
    for (int k = 0; k < count; k++) {
      out.append("mad.lo.u64 %lo, %lo, 0x100000001b3, %ml").append(k).append("; ");
    }
    return out.toString();
  }

  private void add(String text, String body) {
    cases.add(new Form(text, "b64", 0, REGISTERS + body));
  }
}
