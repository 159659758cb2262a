package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Pinned and managed memory for which the memory that a guest shares with its server has no room.
 * The channel is ivshmem, with a file in the place of the guest's PCI device.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
final class RegionTest {
  private static final int MIB = 1 << 20;

  /** The rings and the staging memory of one process, and a little. */
  private static final int REGION = 64 * MIB;

  @TempDir static Path folder;
  private static SoftwareServer server;
  private static Map<String, String> environment;

  @BeforeAll
  static void serve() throws Exception {
    GuestRegionFile region = GuestRegionFile.make(folder, REGION);
    server = SoftwareServer.sharing(folder, 1, region, "tcp://127.0.0.1:0");
    environment = new HashMap<>(server.environment(server.over("ivshmem")));
    environment.put("GRAFT_PCI_DEVICES", region.devices().toString());
    Programs.build(folder, List.of("pinned"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest(name = "{0} bytes")
  @ValueSource(ints = {8, 4096, 40_008, 300_000, 5 * MIB, 96 * MIB})
  void memoryWithoutRoomInTheRegionIsCopiedThroughIt(int bytes) throws Exception {
    Finished program =
        Finished.run(
            folder,
            environment,
            List.of(folder.resolve("pinned").toString(), String.valueOf(bytes)),
            Duration.ofMinutes(3));
    System.out.println(bytes + " bytes\n" + program.err());
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out().lines())
        .containsExactly(
            "pageable right",
            "registered right",
            "pinned right",
            "pinned and mapped right",
            "with its device address right",
            "mapped with a kernel right",
            "mapped, after the kernel right",
            "managed right",
            "managed with a kernel right");
  }

  @Test
  void operatorsSeeThatTheRegionWasTooSmall() throws Exception {
    int bytes = 96 * MIB;
    Finished.run(
        folder,
        environment,
        List.of(folder.resolve("pinned").toString(), String.valueOf(bytes)),
        Duration.ofMinutes(3));
    Finished sessions =
        Finished.run(
            folder,
            environment,
            List.of(
                SoftwareServer.GRAFT,
                "sessions",
                "--socket",
                folder.resolve("operator.sock").toString(),
                "--output",
                "json"));
    Matcher lacked = Pattern.compile("\"lackedBytes\" ?: ?([0-9]+)").matcher(sessions.out());
    assertThat(lacked.find()).as("%s", sessions).isTrue();
    assertThat(Long.parseLong(lacked.group(1)))
        .as("one allocation of the program at least, and no more than all of them")
        .isBetween((long) bytes, 8L * bytes);
    assertThat(sessions.out()).containsPattern("\"regionBytes\" ?: ?" + REGION);
  }

  @Test
  void theClientSaysOnceThatTheRegionIsTooSmall() throws Exception {
    Finished program =
        Finished.run(folder, environment, List.of(folder.resolve("pinned").toString(), "8"));
    assertThat(program.err().lines().filter(line -> line.contains("do not fit")))
        .singleElement()
        .asString()
        .contains("of the 64 MiB that this guest shares with the server", "'region'");
  }
}
