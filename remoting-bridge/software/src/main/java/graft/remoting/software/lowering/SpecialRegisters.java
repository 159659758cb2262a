package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.bitwise;
import static graft.remoting.software.ir.Exprs.integer;
import static graft.remoting.software.ir.Exprs.number;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.PtxType;
import org.objectweb.asm.Opcodes;

/** PTX ISA, "Special Registers". */
final class SpecialRegisters {
  private SpecialRegisters() {}

  /** A value and its type. */
  record Value(Expr expr, PtxType type) {}

  private static Value field(String name) {
    return new Value(new Expr.BlockField(name, Kind.INT), PtxType.U32);
  }

  private static Value element(String name) {
    return new Value(new Expr.BlockElement(name, Kind.INT), PtxType.U32);
  }

  private static Value constant(int value) {
    return new Value(integer(value), PtxType.U32);
  }

  private static Expr lane() {
    return bitwise(Opcodes.IAND, new Expr.ThreadIndex(), integer(31));
  }

  private static Value laneMask(String which) {
    return new Value(Exprs.call("math/WarpMath", which, Kind.INT, lane()), PtxType.U32);
  }

  /**
   * Returns the value of a special register, or null if there is none of that name.
   *
   * @param program the program of the reader, whose shared memory grows by the reserved part once
   *     its offset is read
   */
  static Value read(String name, Program program) {
    return switch (name) {
      case "%tid.x" -> element("tidX");
      case "%tid.y" -> element("tidY");
      case "%tid.z" -> element("tidZ");
      case "%ntid.x" -> field("ntidX");
      case "%ntid.y" -> field("ntidY");
      case "%ntid.z" -> field("ntidZ");
      case "%ctaid.x" -> field("ctaidX");
      case "%ctaid.y" -> field("ctaidY");
      case "%ctaid.z" -> field("ctaidZ");
      case "%nctaid.x" -> field("nctaidX");
      case "%nctaid.y" -> field("nctaidY");
      case "%nctaid.z" -> field("nctaidZ");
      case "%clusterid.x" -> field("clusteridX");
      case "%nclusterid.x" -> field("nclusteridX");
      case "%cluster_ctaid.x" -> field("clusterCtaidX");
      case "%cluster_nctaid.x" -> field("clusterNctaidX");
      case "%clusterid.y" -> field("clusteridY");
      case "%nclusterid.y" -> field("nclusteridY");
      case "%cluster_ctaid.y" -> field("clusterCtaidY");
      case "%cluster_nctaid.y" -> field("clusterNctaidY");
      case "%clusterid.z" -> field("clusteridZ");
      case "%nclusterid.z" -> field("nclusteridZ");
      case "%cluster_ctaid.z" -> field("clusterCtaidZ");
      case "%cluster_nctaid.z" -> field("clusterNctaidZ");
      case "%cluster_ctarank" -> field("clusterRank");
      case "%cluster_nctarank" -> field("clusterSize");
      case "%is_explicit_cluster" ->
          new Value(
              program.launchBounds().cluster() != null
                  ? integer(1)
                  : Exprs.call(
                      "math/WarpMath", "isMoreThanOne", Kind.INT, field("clusterSize").expr()),
              PtxType.PRED);
      case "%tid.w", "%ctaid.w" -> constant(0);
      case "%ntid.w", "%nctaid.w" -> constant(1);
      case "%laneid" -> new Value(lane(), PtxType.U32);
      case "%warpid" ->
          new Value(bitwise(Opcodes.ISHR, new Expr.ThreadIndex(), integer(5)), PtxType.U32);
      case "%nwarpid" -> constant(64);
      case "%smid" -> field("multiprocessor");
      case "%nsmid" -> field("multiprocessors");
      case "%lanemask_eq" -> laneMask("laneMaskEq");
      case "%lanemask_le" -> laneMask("laneMaskLe");
      case "%lanemask_lt" -> laneMask("laneMaskLt");
      case "%lanemask_ge" -> laneMask("laneMaskGe");
      case "%lanemask_gt" -> laneMask("laneMaskGt");
      case "%clock" -> new Value(Exprs.call("exec/Clock", "clock", Kind.INT), PtxType.U32);
      case "%clock_hi" -> new Value(Exprs.call("exec/Clock", "clockHigh", Kind.INT), PtxType.U32);
      case "%clock64" -> new Value(Exprs.call("exec/Clock", "clock64", Kind.LONG), PtxType.U64);
      case "%globaltimer" ->
          new Value(Exprs.call("exec/Clock", "globalTimer", Kind.LONG), PtxType.U64);
      case "%globaltimer_lo" ->
          new Value(Exprs.call("exec/Clock", "globalTimerLow", Kind.INT), PtxType.U32);
      case "%globaltimer_hi" ->
          new Value(Exprs.call("exec/Clock", "globalTimerHigh", Kind.INT), PtxType.U32);
      case "%gridid" -> new Value(new Expr.BlockField("gridId", Kind.LONG), PtxType.U64);
      case "%dynamic_smem_size" -> field("dynamicSharedBytes");
      case "%total_smem_size", "%aggr_smem_size" -> field("sharedBytes");
      case "%reserved_smem_offset_begin", "%reserved_smem_offset_0" ->
          constant(program.reservedShared());
      case "%reserved_smem_offset_1" ->
          constant(program.reservedShared() + Program.RESERVED_SHARED_BYTES / 2);
      case "%reserved_smem_offset_end" ->
          constant(program.reservedShared() + Program.RESERVED_SHARED_BYTES);
      case "%reserved_smem_offset_cap" -> constant(Program.RESERVED_SHARED_BYTES);
      // The driver stores the address of the grid's barrier here for cooperative launches.
      case "%envreg1" -> field("gridBarrierHigh");
      case "%envreg2" -> field("gridBarrierLow");
      case "WARP_SZ" -> constant(32);
      case "%current_graph_exec" -> new Value(number(0), PtxType.U64);
      default -> null;
    };
  }
}
