package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * CUDA's environment variables have their effect in the program that has them, whatever the
 * server's environment is ({@code src/test/c/environment.c} is the program).
 */
final class EnvironmentTest {
  /** The UUID of the software device 1 as nvidia-smi would print it: "graft-software-1". */
  private static final String SECOND = "GPU-67726166-742d-736f-6674-776172652d31";

  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.start(folder, 2, "unix://" + folder.resolve("socket"));
    Programs.build(folder, List.of("environment"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  private static Finished run(String question, Map<String, String> variables) throws Exception {
    Map<String, String> environment =
        new HashMap<>(server.environment("shm://" + folder.resolve("socket")));
    environment.putAll(variables);
    Finished program =
        Finished.run(
            folder, environment, List.of(folder.resolve("environment").toString(), question));
    assertThat(program.code()).as("%s", program).isZero();
    return program;
  }

  @Test
  void allDevicesAreVisibleByDefault() throws Exception {
    assertThat(run("devices", Map.of()).out()).isEqualTo("devices 0 1\n");
  }

  @ParameterizedTest(name = "CUDA_VISIBLE_DEVICES=''{0}''")
  @CsvSource(
      delimiter = '|',
      value = {
        "''|cuInit 100",
        "-1|cuInit 100",
        "0|devices 0",
        "1|devices 1",
        "1,0|devices 1 0",
        "1,-1,0|devices 1",
        "1,2,0|devices 1",
        "0,0|cuInit 100",
        "none|cuInit 100",
        SECOND + "|devices 1",
        SECOND + ",0|devices 1 0",
        "GPU-67726166|cuInit 100", // both begin so
        "MIG-67726166-742d-736f-6674-776172652d31|cuInit 100",
        "MIG-" + SECOND + "/1/0|cuInit 100"
      })
  void onlyTheNamedDevicesAreVisible(String value, String expected) throws Exception {
    assertThat(run("devices", Map.of("CUDA_VISIBLE_DEVICES", value)).out())
        .isEqualTo(expected + "\n");
  }

  @Test
  void callsNameTheProgramsDevices() throws Exception {
    String expected =
        """
        memory of device 0
        pool's access 3
        physical memory of device 0
        """;
    assertThat(run("memory", Map.of("CUDA_VISIBLE_DEVICES", "1")).out()).isEqualTo(expected);
    assertThat(run("memory", Map.of("CUDA_VISIBLE_DEVICES", "0")).out()).isEqualTo(expected);
  }

  @Test
  void aLaunchThatBlocksReturnsTheKernelsError() throws Exception {
    assertThat(run("blocking", Map.of("CUDA_LAUNCH_BLOCKING", "1")).out())
        .isEqualTo("launch 700\nwait 700\n");
    assertThat(run("blocking", Map.of("CUDA_LAUNCH_BLOCKING", "0")).out())
        .isEqualTo("launch 0\nwait 700\n");
  }

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "CUDA_DISABLE_PTX_JIT|1|PTX 223, loading lazy",
        "CUDA_DISABLE_JIT|1|PTX 223, loading lazy",
        "CUDA_DISABLE_PTX_JIT|0|PTX 0, loading lazy",
        "CUDA_FORCE_PTX_JIT|1|PTX 0, loading lazy",
        "CUDA_MODULE_LOADING|EAGER|PTX 0, loading eager",
        "CUDA_MODULE_LOADING|LAZY|PTX 0, loading lazy"
      })
  void theJitCompilerObeysTheProgram(String name, String value, String expected) throws Exception {
    assertThat(run("code", Map.of(name, value)).out()).isEqualTo(expected + "\n");
  }

  /**
   * A driver reads the variable when its process starts, so that the worker's environment counts.
   */
  @Test
  void theDriverMakesAsManyConnectionsAsTheProgramSays() throws Exception {
    String name = "CUDA_DEVICE_MAX_CONNECTIONS";
    assertThat(run("connections", Map.of()).out()).isEmpty();
    assertThat(run("connections", Map.of(name, "33")).out()).isEmpty();
    assertThat(run("connections", Map.of(name, "1")).out()).contains(name + "=1\n");
    assertThat(run("connections", Map.of(name, "32")).out()).contains(name + "=32\n");
  }
}
