package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * NVML in a guest shows for how long the guest's own processes use the vGPU, and no other guest's.
 */
final class UtilizationTest {
  @TempDir static Path folder;

  @Test
  void aGuestSeesItsOwnProcessesAlone() throws Exception {
    Programs.build(folder, List.of("utilization"));
    SoftwareServer server = SoftwareServer.forAllChannels(folder);
    try {
      String program = folder.resolve("utilization").toString();
      Finished finished =
          Finished.run(folder, server.environment(server.over("unix")), List.of(program));
      assertThat(finished.code()).as("%s", finished).isZero();
      assertThat(finished.out())
          .isEqualTo(
              """
              another guest: utilization 0
              another guest: 0 processes
              another guest: its processes use none
              another guest: last sample 0
              another guest: nvidia-smi gets 0 processes, use of 0
              the same guest: utilization much
              the same guest: 1 processes, the other one with its memory
              the same guest: its processes use much
              the same guest: last sample much
              the same guest: nvidia-smi gets 1 processes, use of 1, the other one, by its name, much, memory unknown
              """);
    } finally {
      server.stop();
    }
  }
}
