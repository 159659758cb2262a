package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Forms that nvcc writes with -G, with which it inlines nothing. */
final class DebugPtxTest {
  private static final String HEADER = ".version 7.8\n.target sm_75\n.address_size 64\n";

  @Test
  void aKernelWithoutFrameCallsFunctionsWithoutArguments() {
    String body =
        """
        .global .u32 count;
        .func increment() {
          .reg .u32 %r<2>;
          atom.global.add.u32 %r1, [count], 1;
          ret;
        }
        .visible .entry kernel(.param .u64 out) {
          .reg .u64 %rd<2>;
          .reg .u32 %r<2>;
          call.uni increment, ();
          bar.sync 0;
          ld.param.u64 %rd1, [out];
          ld.global.u32 %r1, [count];
          st.global.u32 [%rd1], %r1;
          ret;
        }
        """;
    assertThat(result(body, 40)).isEqualTo(40);
  }

  /** PTX ISA, "Special Registers: %reserved_smem_offset". */
  @Test
  void reservedSharedMemoryIsThereAndNobodyElses() {
    String body =
        """
        .visible .entry kernel(.param .u64 out) {
          .shared .align 4 .u32 own[4];
          .reg .u64 %rd<2>;
          .reg .u32 %r<8>;
          .reg .pred %p;
          mov.u32 %r1, %reserved_smem_offset_begin;
          mov.u32 %r2, %reserved_smem_offset_1;
          mov.u32 %r3, %reserved_smem_offset_end;
          mov.u32 %r4, 7;
          st.shared.u32 [own], %r4;
          st.shared.u32 [own+12], %r4;
          mov.u32 %r5, 1;
          st.shared.u32 [%r1], %r5;
          st.shared.u32 [%r2], %r5;
          st.shared.u32 [%r3+-4], %r5;
          ld.shared.u32 %r6, [own];
          ld.shared.u32 %r7, [own+12];
          add.u32 %r6, %r6, %r7;
          ld.param.u64 %rd1, [out];
          st.global.u32 [%rd1], %r6;
          ret;
        }
        """;
    assertThat(result(body, 1)).isEqualTo(14);
  }

  /** The flag is in local memory, like all variables in unoptimized code. */
  @Test
  void aLoopThatWaitsForAnotherThreadGivesWayThoughItKeepsTheFlagInLocalMemory() {
    String body =
        """
        .visible .entry kernel(.param .u64 out) {
          .shared .align 4 .u32 flag;
          .local .align 4 .u32 seen;
          .reg .u64 %rd<2>;
          .reg .u32 %r<4>;
          .reg .pred %p<3>;
          mov.u32 %r1, %tid.x;
          setp.eq.u32 %p1, %r1, 63;
          mov.u32 %r3, 5;
          @%p1 st.volatile.shared.u32 [flag], %r3;
          @%p1 bra DONE;
        WAIT:
          ld.volatile.shared.u32 %r2, [flag];
          st.local.u32 [seen], %r2;
          ld.local.u32 %r2, [seen];
          setp.ne.u32 %p2, %r2, 5;
          @%p2 bra WAIT;
        DONE:
          ld.param.u64 %rd1, [out];
          st.global.u32 [%rd1], %r3;
          ret;
        }
        """;
    assertThat(result(body, 64)).isEqualTo(5);
  }

  private static int result(String body, int threads) {
    try (TestDevice device = new TestDevice()) {
      long out = device.allocate(4);
      long kernel = device.function(device.load(HEADER + body), "kernel");
      TestDevice.check(device.run(kernel, 1, threads, out));
      return device.download(out, 1)[0];
    }
  }
}
