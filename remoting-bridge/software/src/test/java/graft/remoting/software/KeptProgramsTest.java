package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.software.memory.Native;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The PTX that nvcc generates from the CUDA programs: every kernel is lowered, compiled and loaded.
 */
final class KeptProgramsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "aligned_types",
        "async_api",
        "async_copies",
        "atomics",
        "clusters",
        "concurrent_kernels",
        "fast_walsh_transform",
        "faults",
        "graphs",
        "half_precision",
        "language",
        "math_functions",
        "matrix_units",
        "options",
        "simple_multi_copy",
        "simple_surface_write",
        "simple_texture",
        "streams",
        "vector_add",
        "warp_primitives"
      })
  void everyKernelCompiles(String program) {
    try (TestDevice device = new TestDevice()) {
      long module = device.load(TestDevice.resource("programs/" + program + ".ptx"));
      long count = device.bytes(8);
      TestDevice.check(device.driver().cuModuleGetFunctionCount(count, module));
      int kernels = Native.UNSAFE.getInt(count);
      assertThat(kernels).isPositive();
      long functions = device.bytes(8L * kernels);
      TestDevice.check(device.driver().cuModuleEnumerateFunctions(functions, kernels, module));
      for (int i = 0; i < kernels; i++) {
        TestDevice.check(device.driver().cuFuncLoad(Native.UNSAFE.getLong(functions + 8L * i)));
      }
    }
  }
}
