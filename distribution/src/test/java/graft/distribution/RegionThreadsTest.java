package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Parts of the memory that a guest shares with its server go from thread to thread of a program
 * ({@code src/test/c/region_threads.c}). A file stands for the guest's PCI device.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class RegionThreadsTest {
  /** Room for all that the threads pin at a time. */
  private static final long REGION = 256L << 20;

  @Test
  void aThreadGetsWhatAnotherHasGivenUp(@TempDir Path folder) throws Exception {
    GuestRegionFile region = GuestRegionFile.make(folder, REGION);
    Programs.build(folder, List.of("region_threads"));
    SoftwareServer server = SoftwareServer.sharing(folder, 1, region, "tcp://127.0.0.1:0");
    try {
      Map<String, String> environment = new HashMap<>(server.environment(server.over("ivshmem")));
      environment.put("GRAFT_PCI_DEVICES", region.devices().toString());
      Finished program =
          Finished.run(folder, environment, List.of(folder.resolve("region_threads").toString()));
      assertThat(program.out()).as(program.err()).isEqualTo("pinned 240 times\n");
    } finally {
      server.stop();
    }
  }
}
