package graft.remoting.software.exec;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.software.TestDevice;
import org.junit.jupiter.api.Test;

/** How threads of a block wait for each other (PTX ISA, "bar"). */
final class BlockRunnerTest {
  private static final int LAUNCH_FAILED = 719;
  private static final int ILLEGAL_INSTRUCTION = 715;

  /** The first half of the threads goes to FIRST, the others run on. */
  private static String kernel(String body) {
    return ".version 8.0\n.target sm_75\n.address_size 64\n"
        + ".visible .entry k(.param .u64 out) {\n"
        + ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %l<3>; .shared .b32 word;\n"
        + "ld.param.u64 %l1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %l2, %r1, 4;"
        + " add.u64 %l1, %l1, %l2; mov.u32 %r2, %ntid.x; shr.u32 %r2, %r2, 1;"
        + " setp.lt.u32 %p1, %r1, %r2; mov.u32 %r0, 0; @%p1 bra FIRST;\n"
        + body
        + "\nst.global.u32 [%l1], %r0;\nret;\n}\n";
  }

  private static int launch(TestDevice device, String body, long out) {
    return device.run(device.function(device.load(kernel(body)), "k"), 1, 128, out);
  }

  private static int[] run(String body) {
    try (TestDevice device = new TestDevice()) {
      long out = device.allocate(128 * 4);
      TestDevice.check(launch(device, body, out));
      return device.download(out, 128);
    }
  }

  @Test
  void threadsThatHaveEndedDoNotHoldUpABarrier() {
    assertThat(run("bar.sync 0; mov.u32 %r0, 5; bra END; FIRST: ret; END:"))
        .containsOnly(0, 5)
        .endsWith(5)
        .startsWith(0);
  }

  @Test
  void halvesOfABlockMeetAtBarriersOfTheirOwn() {
    assertThat(
            run(
                "bar.sync 1, 64; bar.sync 1, 64; mov.u32 %r0, 1; bra BOTH;"
                    + " FIRST: bar.sync 2, 64; mov.u32 %r0, 2; BOTH: bar.sync 0;"))
        .startsWith(2)
        .endsWith(1)
        .doesNotContain(0);
  }

  /** A producer arrives and goes on; the consumers wait for it. */
  @Test
  void arrivingDoesNotWait() {
    assertThat(
            run(
                "bar.sync 3, 128; ld.shared.u32 %r0, [word]; bra END;"
                    + " FIRST: mov.u32 %r4, 77; st.shared.u32 [word], %r4; bar.arrive 3, 128; END:"))
        .startsWith(0)
        .endsWith(77);
  }

  @Test
  void barriersReduceAPredicate() {
    assertThat(
            run(
                "FIRST: setp.eq.u32 %p2, %r1, 3; bar.red.popc.u32 %r0, 0, !%p2;"
                    + " bar.red.or.pred %p2, 0, %p2; @%p2 add.u32 %r0, %r0, 1000;"))
        .containsOnly(1127);
  }

  /** Real devices hang there. */
  @Test
  void waitingForEachOtherForEverIsAFault() {
    try (TestDevice device = new TestDevice()) {
      long out = device.allocate(128 * 4);
      assertThat(launch(device, "bar.sync 1; FIRST: bar.sync 2;", out)).isEqualTo(LAUNCH_FAILED);
    }
  }

  @Test
  void thereAreSixteenBarriers() {
    try (TestDevice device = new TestDevice()) {
      long out = device.allocate(128 * 4);
      assertThat(launch(device, "FIRST: add.u32 %r5, %r2, -48; bar.sync %r5;", out))
          .isEqualTo(ILLEGAL_INSTRUCTION);
    }
  }
}
