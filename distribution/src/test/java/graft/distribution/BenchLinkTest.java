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

/** {@code graft bench remoting --rtt} on the software device, as built, with a program. */
@Timeout(180)
final class BenchLinkTest {
  private static final double ROUND_TRIP = 0.05;

  @TempDir Path folder;

  @Test
  void everyWaitOfAProgramTakesARoundTripOfTheLink() throws Exception {
    String program = Checkout.HOME.resolve("lib/compare/graft-workload").toString();
    List<String> command =
        List.of(
            SoftwareServer.GRAFT,
            "bench",
            "remoting",
            "--rtt=50ms",
            "--rate=100Mbit",
            "--folder=out",
            "--",
            program,
            "load");
    Finished measured =
        Finished.run(
            folder, Map.of("PATH", System.getenv("PATH"), "HOME", folder.toString()), command);
    assertThat(measured.code()).as(measured.err()).isZero();
    assertThat(measured.out()).contains("a relay inside Graft", "| rtt 0 | rtt 50ms |");
    Map<String, Object> tree = Json.readObject(Files.readString(folder.resolve("out/link.json")));
    double waits = value(tree, "program-waits");
    // Beside the waits: the connection, its greeting, its proof.
    assertThat(waits).isBetween(1.0, 10.0);
    assertThat(value(tree, "program")).isGreaterThan((waits + 3) * ROUND_TRIP);
  }

  private static double value(Map<String, Object> tree, String name) {
    return ((List<?>) tree.get("measurements"))
        .stream()
            .map(figure -> (Map<?, ?>) figure)
            .filter(f -> f.get("setting").equals("rtt 50ms") && f.get("name").equals(name))
            .map(f -> ((Number) ((List<?>) f.get("samples")).get(0)).doubleValue())
            .findFirst()
            .orElseThrow();
  }
}
