package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.software.lowering.Program;
import graft.remoting.software.lowering.SyncAnalysis;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxModule;
import graft.remoting.software.ptx.PtxParser;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An instruction that is not implemented is refused with its name and line, never ignored. */
final class RefusedInstructionsTest {
  private static final String BEFORE =
      """
      .version 8.8
      .target sm_100a
      .address_size 64
      .visible .entry kernel(.param .u64 out) {
        .shared .align 16 .b8 tile[4096];
        .reg .u64 %rd<9>;
        .reg .u32 %r<40>;
        .reg .f32 %f<9>;
        .reg .pred %p<3>;
      """;

  /** The line after those of {@link #BEFORE}. */
  private static final int LINE = 10;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "wgmma.fence.sync.aligned;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0;",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;",
        "redux.sync.min.f32 %f1, %f2, -1;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1, %r2}], [tile];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [tile], 16;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0;",
        "multimem.ld_reduce.global.add.u32 %r1, [%rd1];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
        "st.bulk.weak.shared::cta [%rd1], 64, 0;",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rd1;",
        "vavrg4.u32.u32.u32 %r1, %r2, %r3, %r4;",
        "vadd4.u32.u32.u32 %r1.b0, %r2, %r3, %r4;",
        "selp.b128 %rd1, %rd2, %rd3, %p1;",
      })
  void isNamedWithItsLine(String instruction) {
    PtxModule module = PtxParser.parse(BEFORE + "  " + instruction + "\n  ret;\n}\n");
    assertThatThrownBy(
            () -> Program.lower(module, new SyncAnalysis(module), module.functions().get("kernel")))
        .isInstanceOf(PtxException.class)
        .hasMessageContaining("line " + LINE)
        .hasMessageContaining(instruction.substring(0, instruction.indexOf('.')));
  }
}
