package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import org.junit.jupiter.api.Test;

/** The output stream of the program that a kernel writes to. */
final class KernelOutputTest {
  @Test
  void aFailedAssertionIsWrittenToStandardErrorAsCudaDoes() {
    try (TestDevice device = new TestDevice()) {
      long module = device.load(TestDevice.resource("programs/faults.ptx"));
      int result = device.run(device.function(module, "_Z7failingi"), 1, 1, 1);
      assertThat(result).isEqualTo(CudaResult.ASSERT);
      assertThat(device.errors())
          .contains("block: [0,0,0], thread: [0,0,0] Assertion `x == 0` failed.");
      assertThat(device.printed()).isEmpty();
    }
  }

  @Test
  void printfIsWrittenToStandardOutput() {
    try (TestDevice device = new TestDevice()) {
      long module =
          device.load(
              ".version 8.0\n.target sm_90\n.address_size 64\n"
                  + ".global .align 1 .b8 format[4] = {72, 105, 10, 0};\n"
                  + ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                  + ".visible .entry k() { .reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
                  + "mov.u64 %rd1, format; cvta.global.u64 %rd2, %rd1;\n"
                  + "{ .param .b64 p0; .param .b64 p1; .param .b32 q;\n"
                  + "st.param.b64 [p0], %rd2; st.param.b64 [p1], 0;\n"
                  + "call (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; } ret; }\n");
      TestDevice.check(device.run(device.function(module, "k"), 1, 2));
      assertThat(device.printed()).isEqualTo("Hi\nHi\n");
      assertThat(device.errors()).isEmpty();
    }
  }
}
