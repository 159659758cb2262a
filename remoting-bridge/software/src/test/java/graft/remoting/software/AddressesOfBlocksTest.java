package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Addresses that follow from a thread's position in its block are checked once for the block. That
 * must not change which memory a thread may access.
 */
final class AddressesOfBlocksTest {
  private static final int ILLEGAL_ADDRESS = 700;
  private static final int MISALIGNED_ADDRESS = 716;

  /**
   * Has %rd1 and %r1 from its parameters, and the thread's x, y and the block's width in %r2 to
   * %r4.
   */
  private static String entry(String name, String body) {
    return ".visible .entry "
        + name
        + "(.param .u64 out, .param .u32 n) {\n"
        + ".reg .b32 %r<10>; .reg .b64 %rd<5>; .reg .pred %p;\n"
        + "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];\n"
        + "mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %ntid.x;\n"
        + body
        + " ret; }\n";
  }

  /** Stores 1 at {@code out + 4 * INDEX}, where the instructions leave INDEX in %r9. */
  private static String kernel(String name, String index, String widen, String guard) {
    return entry(
        name,
        index
            + widen
            + " %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2;\n"
            + guard
            + " st.global.u32 [%rd3], 1;");
  }

  private static final String PTX =
      ".version 8.0\n.target sm_75\n.address_size 64\n"
          + kernel("upwards", "mov.u32 %r9, %r2;", "mul.wide.u32", "")
          + kernel("downwards", "sub.u32 %r9, %r1, %r2;", "mul.wide.s32", "")
          + kernel("belowN", "mov.u32 %r9, %r2; setp.lt.u32 %p, %r2, %r1;", "mul.wide.s32", "@%p")
          + kernel(
              "unsignedBelowZero",
              "sub.u32 %r9, %r2, 1; setp.ne.u32 %p, %r2, 0;",
              "mul.wide.u32",
              "@%p")
          + kernel(
              "overflow",
              "add.u32 %r5, %r2, 0x7fffffff; sub.u32 %r6, %r5, 0x7fffffff;"
                  + "shl.b32 %r7, %r2, 31; add.u32 %r8, %r7, %r7; add.u32 %r9, %r6, %r8;",
              "mul.wide.s32",
              "")
          + kernel("rows", "mad.lo.u32 %r9, %r3, %r1, %r2;", "mul.wide.u32", "")
          + kernel("columns", "mad.lo.u32 %r9, %r2, %r1, %r3;", "mul.wide.u32", "")
          + kernel(
              "changing",
              "mov.u32 %r9, %r2; setp.eq.u32 %p, %r2, 3; @%p add.u32 %r9, %r9, %r1;",
              "mul.wide.u32",
              "")
          + entry(
              "bytewise",
              "mul.wide.u32 %rd2, %r2, %r1; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], 1;");

  private TestDevice device;
  private long module;

  @BeforeEach
  void load() {
    device = new TestDevice();
    module = device.load(PTX);
  }

  @AfterEach
  void close() {
    device.close();
  }

  private int run(String kernel, int x, int y, long out, int n) {
    int launched =
        device
            .driver()
            .cuLaunchKernel(
                device.function(module, kernel),
                1,
                1,
                1,
                x,
                y,
                1,
                0,
                0,
                device.parameters(out, n),
                0);
    return launched != 0 ? launched : device.driver().cuCtxSynchronize();
  }

  private long zeros(int count) {
    return device.upload(new int[count]);
  }

  private int sum(long address, int count) {
    return java.util.Arrays.stream(device.download(address, count)).sum();
  }

  @Test
  void theLastThreadMayReachTheLastWord() {
    long out = zeros(100);
    TestDevice.check(run("upwards", 100, 1, out, 0));
    assertThat(sum(out, 100)).isEqualTo(100);
    assertThat(run("upwards", 101, 1, out, 0)).isEqualTo(ILLEGAL_ADDRESS);
  }

  @Test
  void addressesMayFall() {
    long out = zeros(64);
    TestDevice.check(run("downwards", 64, 1, out, 63));
    assertThat(sum(out, 64)).isEqualTo(64);
    assertThat(run("downwards", 64, 1, out, 62)).isEqualTo(ILLEGAL_ADDRESS);
  }

  @Test
  void aThreadThatDoesNotStoreMayHaveAnyAddress() {
    long out = zeros(40);
    TestDevice.check(run("belowN", 64, 1, out, 40));
    assertThat(sum(out, 40)).isEqualTo(40);
    TestDevice.check(run("unsignedBelowZero", 32, 1, out, 0));
    assertThat(run("belowN", 64, 1, out, 41)).isEqualTo(ILLEGAL_ADDRESS);
  }

  @Test
  void anIndexMayWrapAroundInBetween() {
    long out = zeros(32);
    TestDevice.check(run("overflow", 32, 1, out, 0));
    assertThat(sum(out, 32)).isEqualTo(32);
  }

  @Test
  void rowsAndColumnsOfTwoDimensionalBlocks() {
    for (String kernel : new String[] {"rows", "columns"}) {
      long out = zeros(8 * 8);
      TestDevice.check(run(kernel, 8, 8, out, 8));
      assertThat(sum(out, 64)).isEqualTo(64);
    }
    assertThat(run("columns", 8, 8, zeros(8 * 8 - 1), 8)).isEqualTo(ILLEGAL_ADDRESS);
  }

  @Test
  void anAddressThatOneThreadChangesIsItsOwn() {
    long out = zeros(33);
    TestDevice.check(run("changing", 32, 1, out, 29));
    int[] words = device.download(out, 33);
    assertThat(words[3]).isZero();
    assertThat(words[32]).isOne();
    assertThat(run("changing", 32, 1, out, 30)).isEqualTo(ILLEGAL_ADDRESS);
  }

  @Test
  void alignmentIsThatOfEachAddress() {
    long out = zeros(32);
    TestDevice.check(run("bytewise", 32, 1, out, 4));
    assertThat(sum(out, 32)).isEqualTo(32);
    assertThat(run("bytewise", 32, 1, out, 2)).isEqualTo(MISALIGNED_ADDRESS);
  }
}
