package graft.remoting.software.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * Kernels of clusters: each thread leaves its operands in the shared memory of its block, and works
 * on those of the same thread in the cluster's next block.
 */
final class ClusterCases {
  private static final String ARRIVE = "barrier.cluster.arrive.release; ";
  private static final String WAIT = "barrier.cluster.wait.acquire; ";
  private static final String MEET = ARRIVE + WAIT;

  /** %slot, %far: the shared address of a thread's 16 bytes, here and in the next block. */
  private static final String SLOTS =
      ".reg .b32 %slot, %far, %rank, %next, %blocks, %m<4>; .reg .b64 %ml<4>, %away; "
          + ".reg .b16 %mh; .reg .pred %mp; .shared .align 16 .b8 slots[2048]; "
          + "mov.u32 %slot, slots; mov.u32 %m0, %tid.x; mad.lo.u32 %slot, %m0, 16, %slot; "
          + "st.shared.v2.b64 [%slot], {%lb, %lc}; "
          + "mov.u32 %rank, %cluster_ctarank; mov.u32 %blocks, %cluster_nctarank; "
          + "add.u32 %next, %rank, 1; rem.u32 %next, %next, %blocks; "
          + "mapa.shared::cluster.u32 %far, %slot, %next; "
          + MEET;

  /** What the own slot holds after all blocks have done their part, and %ml0 and %ml1. */
  private static final String RESULT =
      MEET
          + "ld.shared.v2.b64 {%ml2, %ml3}, [%slot]; "
          + "mad.lo.u64 %lo, %ml0, 0x100000001b3, %ml1; mad.lo.u64 %lo, %lo, 0x100000001b3, %ml2; "
          + "mad.lo.u64 %lo, %lo, 0x100000001b3, %ml3; ";

  private final List<Form> cases = new ArrayList<>();

  private ClusterCases() {}

  static List<Form> all() {
    ClusterCases c = new ClusterCases();
    c.places();
    c.barriers();
    c.addresses();
    c.accesses();
    c.atomics();
    c.delivered();
    c.copied();
    return c.cases;
  }

  private void places() {
    for (int blocks : new int[] {1, 2, 4, 8}) {
      StringBuilder body = new StringBuilder(".reg .b32 %m0; .reg .b64 %ml0; .reg .pred %mp; ");
      for (String r : List.of("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")) {
        for (String axis : List.of("x", "y", "z")) {
          fold(body, r + "." + axis);
        }
      }
      fold(body, "cluster_ctarank");
      fold(body, "cluster_nctarank");
      body.append("mov.pred %mp, %is_explicit_cluster; selp.u64 %ml0, 1, 0, %mp; ")
          .append("mad.lo.u64 %lo, %lo, 31, %ml0;");
      add("cluster of " + blocks + " blocks", blocks, body.toString());
    }
  }

  private static void fold(StringBuilder body, String register) {
    body.append("mov.u32 %m0, %").append(register).append("; cvt.u64.u32 %ml0, %m0; ");
    body.append("mad.lo.u64 %lo, %lo, 31, %ml0; ");
  }

  /** What a block wrote before it arrived is seen by those that have waited. */
  private void barriers() {
    for (String aligned : List.of("", ".aligned")) {
      for (String arrive : List.of("", ".release", ".relaxed")) {
        for (String wait : List.of("", ".acquire")) {
          String first = "barrier.cluster.arrive" + arrive + aligned;
          String then = "barrier.cluster.wait" + wait + aligned;
          add(
              first + " and " + then,
              4,
              SLOTS
                  + "st.shared.v2.b64 [%slot], {%la, %lb}; "
                  + (arrive.equals(".relaxed") ? "fence.acq_rel.cluster; " : "")
                  + (first + "; " + then + "; ")
                  + "ld.shared::cluster.v2.b64 {%ml0, %ml1}, [%far]; "
                  + RESULT);
        }
      }
    }
  }

  private void addresses() {
    add(
        "mapa.shared::cluster.u32 of any block",
        8,
        SLOTS
            + "rem.u32 %m0, %ra, 8; mapa.shared::cluster.u32 %far, %slot, %m0; "
            + "getctarank.shared::cluster.u32 %m1, %far; cvt.u64.u32 %ml1, %m1; "
            + "ld.shared::cluster.u64 %ml0, [%far]; "
            + RESULT);
    add(
        "mapa.shared::cluster.u64",
        4,
        SLOTS
            + "cvt.u64.u32 %away, %slot; mapa.shared::cluster.u64 %away, %away, %next; "
            + "getctarank.shared::cluster.u64 %m1, %away; cvt.u64.u32 %ml1, %m1; "
            + "ld.shared::cluster.u64 %ml0, [%away]; "
            + RESULT);
    add(
        "mapa.u64",
        4,
        SLOTS
            + "cvt.u64.u32 %away, %slot; cvta.shared.u64 %away, %away; "
            + "mapa.u64 %away, %away, %next; ld.u64 %ml0, [%away]; "
            + "getctarank.u64 %m1, %away; cvt.u64.u32 %ml1, %m1; "
            + RESULT);
    add(
        "cvta.shared::cluster.u64",
        4,
        SLOTS
            + "cvt.u64.u32 %away, %far; cvta.shared::cluster.u64 %away, %away; "
            + "ld.u64 %ml0, [%away]; cvta.to.shared::cluster.u64 %away, %away; "
            + "ld.shared::cluster.u64 %ml1, [%away+8]; "
            + RESULT);
    for (String space : List.of("shared::cluster", "shared::cta", "shared", "global", "local")) {
      add(
          "isspacep." + space + " of a near and a far address",
          4,
          SLOTS
              + "cvt.u64.u32 %away, %slot; cvta.shared.u64 %away, %away; "
              + ("isspacep." + space + " %mp, %away; selp.u64 %ml0, 1, 0, %mp; ")
              + "mapa.u64 %away, %away, %next; "
              + ("isspacep." + space + " %mp, %away; selp.u64 %ml1, 1, 0, %mp; ")
              + RESULT);
    }
  }

  private void accesses() {
    for (String order : List.of("", ".volatile", ".relaxed.cluster", ".acquire.cluster")) {
      for (String type : List.of("u8", "s8", "u16", "s16", "u32", "s32", "u64")) {
        String load = "ld" + order + ".shared::cluster." + type;
        String register = type.endsWith("64") ? "%ml0" : type.endsWith("16") ? "%mh" : "%m0";
        String widened =
            switch (type) {
              case "u64" -> "";
              case "u16", "s16" -> "cvt.u64.u16 %ml0, %mh; ";
              default -> "cvt.u64.u32 %ml0, %m0; ";
            };
        add(
            load,
            4,
            SLOTS + load + " " + register + ", [%far]; " + widened + "mov.b64 %ml1, 0; " + RESULT);
      }
    }
    for (String order : List.of("", ".volatile", ".relaxed.cluster", ".release.cluster")) {
      for (String type : List.of("b8", "b16", "b32", "b64")) {
        String store = "st" + order + ".shared::cluster." + type;
        String register = type.equals("b64") ? "%la" : type.equals("b16") ? "%ha" : "%ra";
        add(
            store,
            4,
            SLOTS
                + store
                + " [%far+8], "
                + register
                + "; mov.b64 %ml0, 0; mov.b64 %ml1, 0; "
                + RESULT);
      }
    }
    add(
        "st.shared::cluster.v4.b32",
        4,
        SLOTS
            + "st.shared::cluster.v4.b32 [%far], {%ra, %rb, %rc, %rd}; "
            + "mov.b64 %ml0, 0; mov.b64 %ml1, 0; "
            + RESULT);
  }

  private void atomics() {
    for (String type : List.of("u32", "s32", "u64", "s64")) {
      for (String op : List.of("add", "min", "max")) {
        if (!op.equals("add") || !type.equals("s64")) {
          atomic(op, type);
        }
      }
    }
    for (String type : List.of("b32", "b64")) {
      for (String op : List.of("and", "or", "xor", "exch", "cas")) {
        atomic(op, type);
      }
    }
    atomic("inc", "u32");
    atomic("dec", "u32");
  }

  private void atomic(String op, String type) {
    boolean wide = type.endsWith("64");
    String value = wide ? "%la" : "%ra";
    String operands =
        "[%far], " + (op.equals("cas") ? (wide ? "%lb, " : "%rb, ") + value : value) + "; ";
    String before = wide ? "%ml0" : "%m0";
    for (String order : List.of("", ".relaxed.cluster", ".acq_rel.cluster")) {
      String atom = "atom" + order + ".shared::cluster." + op + "." + type;
      add(
          atom,
          4,
          SLOTS
              + (atom + " " + before + ", " + operands)
              + (wide ? "" : "cvt.u64.u32 %ml0, %m0; ")
              + "mov.b64 %ml1, 0; "
              + RESULT);
    }
    if (!op.equals("exch") && !op.equals("cas")) {
      String red = "red.relaxed.cluster.shared::cluster." + op + "." + type;
      add(red, 4, SLOTS + red + " " + operands + "mov.b64 %ml0, 0; mov.b64 %ml1, 0; " + RESULT);
    }
  }

  /** A barrier in shared memory at which a block's threads wait for bytes. */
  private static String expecting(int bytes) {
    return ".shared .align 8 .b8 bell[8]; .reg .b32 %bell, %farbell; mov.u32 %bell, bell; "
        + "mapa.shared::cluster.u32 %farbell, %bell, %next; mov.u32 %m0, %tid.x; "
        + "setp.ne.u32 %mp, %m0, 0; @%mp bra READY; "
        + "mbarrier.init.shared::cta.b64 [%bell], 1; fence.mbarrier_init.release.cluster; "
        + ("mbarrier.arrive.expect_tx.shared::cta.b64 %ml0, [%bell], " + bytes + "; ")
        + "READY: "
        + MEET;
  }

  private static final String WAITING =
      "LOOK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %mp, [%bell], 0; "
          + "@!%mp bra LOOK; mov.b64 %ml0, 0; mov.b64 %ml1, 0; ";

  /** st.async, and arrivals at the barrier of another block. */
  private void delivered() {
    String way = ".shared::cluster.mbarrier::complete_tx::bytes";
    for (String weak : List.of("", ".weak")) {
      for (String type : List.of("b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64")) {
        boolean wide = type.endsWith("64");
        String p = type.startsWith("f") ? (wide ? "%d" : "%f") : wide ? "%l" : "%r";
        store("st.async" + weak + way + "." + type, p + "a", wide ? 8 : 4);
        store("st.async" + weak + way + ".v2." + type, "{" + p + "a, " + p + "b}", wide ? 16 : 8);
        if (!wide) {
          store(
              "st.async" + weak + way + ".v4." + type,
              "{" + p + "a, " + p + "b, " + p + "c, " + p + "a}",
              16);
        }
      }
    }
    add(
        "mbarrier.arrive.release.cluster.shared::cluster.b64",
        4,
        SLOTS
            + ".shared .align 8 .b8 bell[8]; .reg .b32 %bell, %farbell; mov.u32 %bell, bell; "
            + "mapa.shared::cluster.u32 %farbell, %bell, %next; mov.u32 %m0, %tid.x; "
            + "setp.ne.u32 %mp, %m0, 0; @%mp bra READY; "
            + "mbarrier.init.shared::cta.b64 [%bell], 128; fence.mbarrier_init.release.cluster; "
            + ("READY: " + MEET)
            + "st.shared::cluster.v2.b64 [%far], {%la, %lb}; "
            + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%farbell]; "
            + WAITING
            + RESULT);
  }

  private void store(String text, String value, int bytes) {
    add(
        text,
        4,
        SLOTS
            + expecting(128 * bytes)
            + (text + " [%far], " + value + ", [%farbell]; ")
            + WAITING
            + RESULT);
  }

  /** Copies between shared memories, and into those of several blocks. */
  private void copied() {
    String complete = "mbarrier::complete_tx::bytes";
    add(
        "cp.async.bulk.shared::cluster.shared::cta." + complete,
        4,
        SLOTS
            + ".shared .align 16 .b8 copies[2048]; .reg .b32 %to; "
            + expecting(2048)
            + "mov.u32 %to, copies; mapa.shared::cluster.u32 %to, %to, %next; @%mp bra SENT; "
            + "mov.u32 %m1, slots; mov.u32 %m2, 2048; fence.proxy.async; "
            + ("cp.async.bulk.shared::cluster.shared::cta." + complete)
            + " [%to], [%m1], %m2, [%farbell]; SENT: "
            + WAITING
            + "mov.u32 %m1, copies; mov.u32 %m0, %tid.x; mad.lo.u32 %m1, %m0, 16, %m1; "
            + "ld.shared.v2.b64 {%ml0, %ml1}, [%m1]; "
            + RESULT);
    add(
        "cp.async.bulk.shared::cluster.global." + complete + ".multicast::cluster",
        4,
        SLOTS
            + ".shared .align 16 .b8 copies[2048]; "
            + expecting(2048)
            + "mov.u32 %m1, %cluster_ctarank; setp.ne.or.u32 %mp, %m1, 2, %mp; @%mp bra SENT; "
            + "mov.u32 %m1, copies; mov.u32 %m2, 2048; mov.u16 %mh, 15; ld.param.u64 %away, [in]; "
            + "mov.u32 %m3, %clusterid.x; mul.wide.u32 %ml1, %m3, 2048; "
            + "add.u64 %away, %away, %ml1; "
            + ("cp.async.bulk.shared::cluster.global." + complete + ".multicast::cluster")
            + " [%m1], [%away], %m2, [%bell], %mh; SENT: "
            + WAITING
            + "mov.u32 %m1, copies; mov.u32 %m0, %tid.x; mad.lo.u32 %m1, %m0, 16, %m1; "
            + "ld.shared.v2.b64 {%ml0, %ml1}, [%m1]; "
            + RESULT);
  }

  private void add(String text, int blocks, String body) {
    String directives = ".explicitcluster .reqnctapercluster " + blocks + " ";
    cases.add(new Form(text, "b64", 0, directives, body));
  }
}
