package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** PTX ISA, "SIMD Video Instructions"; the expected words are written out by hand. */
final class VideoInstructionsTest {
  @ParameterizedTest
  @CsvSource({
    // unsigned bytes: 10-200, 255-0, 7-7, 0-1
    "vabsdiff4.u32.u32.u32,        0a ff 07 00, c8 00 07 01, 00 00 00 05, be ff 00 01",
    "vabsdiff4.u32.u32.u32.add,    0a ff 07 00, c8 00 07 01, 00 00 00 05, 00 00 01 c3",
    // signed bytes: -1 and 1, -128 and 127, 0 and 0, 5 and -5
    "vabsdiff4.u32.s32.s32,        ff 80 00 05, 01 7f 00 fb, 00 00 00 00, 02 ff 00 0a",
    "vabsdiff2.u32.u32.u32.add,    00 10 ff ff, 00 30 00 01, 00 00 00 02, 00 01 00 20",
    "vadd4.u32.u32.u32,            ff 80 01 7f, 02 80 01 01, 00 00 00 00, 01 00 02 80",
    "vadd4.u32.u32.u32.sat,        ff 80 01 7f, 02 80 01 01, 00 00 00 00, ff ff 02 80",
    "vadd4.s32.s32.s32.sat,        ff 80 01 7f, 02 80 01 01, 00 00 00 00, 01 80 02 7f",
    "vsub2.s32.s32.s32.sat,        80 00 00 05, 00 01 00 07, 00 00 00 00, 80 00 ff fe",
    "vsub4.u32.u32.u32.sat,        05 07 ff 00, 07 05 01 00, 00 00 00 00, 00 02 fe 00",
    "vmin4.s32.s32.s32,            ff 80 00 05, 01 7f 00 fb, 00 00 00 00, ff 80 00 fb",
    "vmax4.u32.u32.u32,            ff 80 00 05, 01 7f 00 fb, 00 00 00 00, ff 80 00 fb",
  })
  void eachLaneOnItsOwn(String instruction, String a, String b, String c, String expected) {
    String ptx =
        ".version 7.8\n.target sm_75\n.address_size 64\n"
            + ".visible .entry kernel(.param .u64 out, .param .u32 a, .param .u32 b, .param .u32 c)"
            + " {\n.reg .u64 %rd<2>; .reg .u32 %r<5>;\n"
            + "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];"
            + " ld.param.u32 %r3, [c];\n"
            + instruction
            + " %r4, %r1, %r2, %r3;\nst.global.u32 [%rd1], %r4;\nret;\n}\n";
    try (TestDevice device = new TestDevice()) {
      long out = device.allocate(4);
      long kernel = device.function(device.load(ptx), "kernel");
      TestDevice.check(device.run(kernel, 1, 1, out, word(a), word(b), word(c)));
      assertThat(Integer.toHexString(device.download(out, 1)[0]))
          .isEqualTo(Integer.toHexString(word(expected)));
    }
  }

  private static int word(String bytes) {
    return Integer.parseUnsignedInt(bytes.replace(" ", ""), 16);
  }
}
