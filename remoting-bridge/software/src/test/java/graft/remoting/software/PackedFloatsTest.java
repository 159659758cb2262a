package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** f32x2 does to each half what f32 does (PTX ISA, "add", "mul", "fma"; sm_100 and newer). */
final class PackedFloatsTest {
  private static final int[] EDGES = {
    0,
    0x80000000,
    1,
    0x007fffff,
    0x00800000,
    0x3f800001,
    0x7f7fffff,
    0x7f800000,
    0x4b000001,
    0xbf333333
  };

  @ParameterizedTest
  @CsvSource({
    "add.rn, 2",
    "add.rz.ftz, 2",
    "sub.rp, 2",
    "mul.rn.ftz, 2",
    "mul.rm, 2",
    "fma.rn, 3",
    "fma.rz.ftz, 3"
  })
  void aPairIsTwoFloats(String operation, int arity) {
    String registers = arity == 3 ? "%f1, %f2, %f3" : "%f1, %f2";
    String pairs = arity == 3 ? "%l1, %l2, %l3" : "%l1, %l2";
    String ptx =
        ".version 8.6\n.target sm_100\n.address_size 64\n"
            + ".visible .entry both(.param .u64 in, .param .u64 out) {\n"
            + ".reg .b32 %t; .reg .f32 %f<8>; .reg .b64 %l<8>, %p, %q, %i;\n"
            + "mov.u32 %t, %tid.x; ld.param.u64 %p, [in]; ld.param.u64 %q, [out];\n"
            + "mul.wide.u32 %i, %t, 12; add.u64 %p, %p, %i;\n"
            + "mul.wide.u32 %i, %t, 16; add.u64 %q, %q, %i;\n"
            + "ld.global.f32 %f1, [%p]; ld.global.f32 %f2, [%p+4]; ld.global.f32 %f3, [%p+8];\n"
            + "mov.b64 %l1, {%f1, %f2}; mov.b64 %l2, {%f2, %f3}; mov.b64 %l3, {%f3, %f1};\n"
            + operation
            + ".f32x2 %l4, "
            + pairs
            + "; st.global.b64 [%q], %l4;\n"
            + operation
            + ".f32 %f4, "
            + registers
            + "; st.global.f32 [%q+8], %f4;\n"
            + operation
            + ".f32 %f4, "
            + registers
                .replace("%f3", "%f0")
                .replace("%f2", "%f3")
                .replace("%f1", "%f2")
                .replace("%f0", "%f1")
            + "; st.global.f32 [%q+12], %f4; ret; }\n";
    int rows = EDGES.length * EDGES.length;
    int[] in = new int[3 * rows];
    for (int i = 0; i < rows; i++) {
      in[3 * i] = EDGES[i % EDGES.length];
      in[3 * i + 1] = EDGES[i / EDGES.length];
      in[3 * i + 2] = EDGES[(3 * i + 1) % EDGES.length];
    }
    try (TestDevice device =
        new TestDevice(
            SoftwareDeviceConfig.defaults()
                .withMemoryBytes(64 << 20)
                .withComputeCapability(10, 0))) {
      long out = device.allocate(16L * rows);
      TestDevice.check(
          device.run(device.function(device.load(ptx), "both"), 1, rows, device.upload(in), out));
      int[] results = device.download(out, 4 * rows);
      for (int i = 0; i < rows; i++) {
        assertThat(results[4 * i]).isEqualTo(results[4 * i + 2]);
        assertThat(results[4 * i + 1]).isEqualTo(results[4 * i + 3]);
      }
    }
  }
}
