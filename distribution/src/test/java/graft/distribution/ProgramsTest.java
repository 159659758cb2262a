package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs of the examples without a working CUDA driver. With a driver, the tests of the
 * server and of the guests run them.
 */
final class ProgramsTest {
  /** A libcuda.so.1 whose every function returns CUDA_ERROR_NOT_SUPPORTED. */
  private static final Map<String, String> BROKEN =
      Map.of("LD_LIBRARY_PATH", Checkout.PROGRAMS.resolve("stubs").toString());

  @TempDir Path folder;

  private Finished run(Map<String, String> environment, String program, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Checkout.PROGRAMS.resolve(program).toString());
    command.addAll(List.of(arguments));
    return Finished.run(folder, environment, command);
  }

  @Test
  void verifyNamesALibraryThatIsMissing() throws Exception {
    Finished verify = run(Map.of("LD_LIBRARY_PATH", folder.toString()), "graft-verify");
    // On a machine with an NVIDIA driver the program finds that driver, and there is nothing to
    // test.
    if (verify.code() != 0) {
      assertThat(verify.out()).startsWith("result=failed: ").contains("libcuda.so.1");
      assertThat(verify.code()).isEqualTo(1);
    }
  }

  @Test
  void verifyNamesAFunctionThatIsMissing() throws Exception {
    Finished verify = run(BROKEN, "graft-verify", "--json");
    assertThat(verify.code()).isEqualTo(1);
    assertThat(verify.out())
        .isEqualTo("{\"result\":\"failed: libcuda.so.1 has no function cuDriverGetVersion\"}\n");
  }

  @Test
  void verifyRefusesWhatItDoesNotKnow() throws Exception {
    Finished unknown = run(BROKEN, "graft-verify", "--colour");
    assertThat(unknown.code()).isEqualTo(2);
    assertThat(unknown.err()).contains("unknown argument '--colour'").contains("Usage:");
    Finished large = run(BROKEN, "graft-verify", "--size=1025");
    assertThat(large.code()).isEqualTo(2);
    assertThat(large.err()).contains("a number from 1 to 1024, not '1025'");
  }

  @Test
  void vectorAddSaysWhichCallFailed() throws Exception {
    Finished add = run(BROKEN, "vectorAddDrv");
    assertThat(add.out()).isEqualTo("result=failed: cuInit(0): unknown error\n");
    assertThat(add.code()).isEqualTo(1);
  }
}
