package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Numbers of 128 bits, as nvcc writes the atomics of __int128. */
final class WideNumbersTest {
  private static final String HEADER = ".version 8.4\n.target sm_90\n.address_size 64\n";

  @Test
  void movesLoadsStoresAndExchanges() {
    String body =
        """
        .visible .entry kernel(.param .u64 at) {
          .reg .b64 %rd<12>;
          .reg .b128 %rq<8>;
          ld.param.u64 %rd1, [at];
          mov.u64 %rd2, 5;
          mov.u64 %rd3, -7;
          mov.b128 %rq1, {%rd2, %rd3};
          mov.b128 %rq2, %rq1;
          atom.exch.relaxed.gpu.global.b128 %rq3, [%rd1], %rq2;
          ld.acquire.sys.b128 %rq4, [%rd1];
          mov.b128 {%rd4, %rd5}, %rq3;
          mov.b128 {%rd6, %rd7}, %rq4;
          st.global.v2.u64 [%rd1+16], {%rd4, %rd5};
          st.global.v2.u64 [%rd1+32], {%rd6, %rd7};
          st.release.sys.b128 [%rd1+48], %rq3;
          ret;
        }
        """;
    try (TestDevice device = new TestDevice()) {
      long at = device.uploadLongs(1L << 63, 2, 0, 0, 0, 0, 0, 0);
      TestDevice.check(device.run(device.function(device.load(HEADER + body), "kernel"), 1, 1, at));
      assertThat(device.downloadLongs(at, 8))
          .containsExactly(5, -7, 1L << 63, 2, 5, -7, 1L << 63, 2);
    }
  }

  /** Both halves count, the upper one by the carries of the lower one. */
  @Test
  void compareAndSwapLosesNoneOfManyAdditions() {
    String body =
        """
        .visible .entry kernel(.param .u64 at) {
          .reg .b64 %rd<12>;
          .reg .b128 %rq<8>;
          .reg .pred %p<3>;
          ld.param.u64 %rd1, [at];
          ld.relaxed.gpu.global.b128 %rq1, [%rd1];
        AGAIN:
          mov.b128 {%rd2, %rd3}, %rq1;
          add.cc.u64 %rd4, %rd2, 0x4000000000000000;
          addc.u64 %rd5, %rd3, 0;
          mov.b128 %rq2, {%rd4, %rd5};
          atom.cas.relaxed.gpu.global.b128 %rq3, [%rd1], %rq1, %rq2;
          mov.b128 {%rd6, %rd7}, %rq3;
          setp.ne.u64 %p1, %rd6, %rd2;
          setp.ne.or.u64 %p2, %rd7, %rd3, %p1;
          mov.b128 %rq1, %rq3;
          @%p2 bra AGAIN;
          ret;
        }
        """;
    try (TestDevice device = new TestDevice()) {
      long at = device.uploadLongs(0, 0);
      TestDevice.check(
          device.run(device.function(device.load(HEADER + body), "kernel"), 50, 64, at));
      assertThat(device.downloadLongs(at, 2)).containsExactly(0, 50 * 64 / 4);
    }
  }
}
