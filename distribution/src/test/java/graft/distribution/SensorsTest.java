package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A guest sees the temperature, the power and the clocks of the server's GPU if its owner allows
 * it. The worker in its jail reads them from a library in the place of the driver's ({@code
 * src/test/c/nvml_sensors.c}), which knows the software devices 0 and 1.
 */
final class SensorsTest {
  private static final String NONE =
      """
      temperature error 3
      temperature by structure error 3
      another sensor error 2
      power error 3
      power limit error 3
      clock 0 error 3
      clock 1 error 3
      clock 2 error 3
      clock 3 error 3
      clock 4 error 2
      state error 3
      utilization 0
      brand 0
      traffic error 3
      traffic error 3
      traffic error 2
      """;

  private static final String CONNECTED =
      """
      path to device 1 20
      links 1
      link that no GPU has error 2
      peers by link 1
      link leads to 0
      its end is device 1
      """;

  private static final String NOT_CONNECTED =
      """
      path to device 1 50
      links 0
      link that no GPU has error 2
      peers by link error 3
      link leads to error 3
      its end is at no place
      """;

  @TempDir static Path folder;

  @BeforeAll
  static void build() throws Exception {
    Path library = Files.createDirectory(folder.resolve("lib")).resolve("libnvidia-ml.so.1");
    Programs.gcc("-shared", "-fPIC", "src/test/c/nvml_sensors.c", "-o", library.toString());
    Programs.gcc("src/test/c/sensors.c", "-o", folder.resolve("sensors").toString(), "-ldl");
  }

  private static String shown(String device, Map<String, String> variables, String... options)
      throws Exception {
    Map<String, String> serving = new HashMap<>(variables);
    serving.put("GRAFT_SOFTWARE_DEVICES", "3");
    Path socket = folder.resolve("socket");
    SoftwareServer server =
        SoftwareServer.start(folder, serving, List.of(options), "unix://" + socket);
    try {
      Map<String, String> environment = new HashMap<>(server.environment("unix://" + socket));
      environment.put("LD_LIBRARY_PATH", Checkout.HOME.resolve("lib/client").toString());
      List<String> command = List.of(folder.resolve("sensors").toString(), device);
      Finished program = Finished.run(folder, environment, command);
      assertThat(program.code()).as("%s", program).isZero();
      return program.out();
    } finally {
      server.stop();
    }
  }

  private static Map<String, String> library() {
    return Map.of("LD_LIBRARY_PATH", folder.resolve("lib").toString());
  }

  @Test
  void theGpusSensorsAreShown() throws Exception {
    assertThat(shown("0", library()))
        .isEqualTo(
            """
            temperature 33
            temperature by structure 33
            another sensor error 2
            power 71000
            fewer readings than questions
            power limit error 3
            clock 0 1000
            clock 1 1001
            clock 2 1002
            clock 3 error 3
            clock 4 error 2
            state error 3
            utilization 0
            brand 14
            traffic 500
            traffic 501
            traffic error 2
            """
                + CONNECTED);
  }

  @Test
  void aGpuThatTheLibraryDoesNotKnowHasNone() throws Exception {
    assertThat(shown("2", library())).isEqualTo(NONE + NOT_CONNECTED);
  }

  @Test
  void theOwnerMayKeepThem() throws Exception {
    Map<String, String> off = new HashMap<>(library());
    off.put("GRAFT_SENSORS", "off");
    String noUse = NONE.replace("brand 0", "brand 14") + CONNECTED;
    assertThat(shown("0", off)).isEqualTo(noUse);
    assertThat(shown("0", library(), "--sensors", "off")).isEqualTo(noUse);
    assertThat(shown("0", off, "--sensors", "on")).contains("temperature 33");
  }

  @Test
  void theSoftwareDeviceHasNone() throws Exception {
    assertThat(shown("0", Map.of())).isEqualTo(NONE + NOT_CONNECTED);
  }
}
