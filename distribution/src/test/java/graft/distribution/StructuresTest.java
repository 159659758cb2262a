package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Where client and server share no memory, pinned memory is exposed to kernels that have its
 * address within a structure, and not to those that have two sizes there, which once were an
 * address.
 */
final class StructuresTest {
  private static final String EXPOSED = "graftTwinMap";

  @TempDir Path folder;
  private SoftwareServer server;

  @BeforeEach
  void serve() throws Exception {
    Programs.build(folder, List.of("structures"));
    server = SoftwareServer.forAllChannels(folder);
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  private Finished run(String contents) throws Exception {
    Map<String, String> environment = new HashMap<>(server.environment(server.over("tcp")));
    environment.put("GRAFT_STATS", "1");
    Finished program =
        Finished.run(
            folder, environment, List.of(folder.resolve("structures").toString(), contents));
    assertThat(program.out()).as("%s", program).isEqualTo("0 wrong\n");
    return program;
  }

  @Test
  void sizesAreNoAddress() throws Exception {
    assertThat(run("sizes").err()).contains("graftLaunch").doesNotContain(EXPOSED);
  }

  @Test
  void anAddressIsFound() throws Exception {
    assertThat(run("address").err()).contains(EXPOSED);
  }
}
