package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code graft bench sharing} on the software device, as built. */
@Timeout(180)
final class BenchSharingTest {
  @TempDir Path folder;

  @Test
  void measuresOnTheSoftwareDeviceWithoutANativeColumn() throws Exception {
    List<String> command =
        List.of(
            SoftwareServer.GRAFT,
            "bench",
            "sharing",
            "--parts",
            "shares,latency,classes",
            "--kernels",
            "500",
            "--seconds",
            "0.5",
            "--folder",
            "out");
    Finished measured =
        Finished.run(
            folder, Map.of("PATH", System.getenv("PATH"), "HOME", folder.toString()), command);
    assertThat(measured.code()).as(measured.err()).isZero();
    assertThat(measured.out())
        .as(measured.err())
        .contains("75, 25 asked, kernels of 500 us", "goals met: ", "no native driver")
        .doesNotContain("| native |", "failed");
    Path out = folder.resolve("out");
    Map<String, Object> tree = Json.readObject(Files.readString(out.resolve("sharing.json")));
    assertThat((List<?>) tree.get("figures"))
        .hasSize(4 * 3 + 2 + 4 + 3)
        .allMatch(figure -> ((Map<?, ?>) figure).get("value") instanceof Double);
    assertThat(out.resolve("shares.svg")).exists();
    assertThat(out.resolve("latency.svg")).exists();
    assertThat(out.resolve("sessions.svg")).doesNotExist();
  }
}
