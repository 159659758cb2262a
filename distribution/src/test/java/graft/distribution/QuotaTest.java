package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Managed memory counts against a guest's limit of GPU memory, whatever the channel, and a program
 * whose kernels have system-wide atomics is told of the mode for them.
 */
final class QuotaTest {
  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Programs.build(folder, List.of("quota"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "unix", "tcp"})
  void managedMemoryCounts(String channel) throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(server.over(channel)));
    environment.put("GRAFT_NAME", SoftwareServer.LIMITED);
    Finished program =
        Finished.run(folder, environment, List.of(folder.resolve("quota").toString()));
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out())
        .isEqualTo(
            """
            at first: 32 of 32 MiB free
            20 MiB managed: 12 of 32 MiB free
            20 MiB more: 2 managed, 2 of the device
            freed: 32 of 32 MiB free
            at last: 32 of 32 MiB free
            """);
    assertThat(program.err()).containsOnlyOnce("set GRAFT_MANAGED=exclusive");
  }
}
