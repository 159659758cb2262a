package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How often a program waits for the server until its kernels run, as built. */
final class StartWaitsTest {
  @TempDir Path folder;
  private SoftwareServer server;

  @BeforeEach
  void serve() throws Exception {
    Programs.build(folder, List.of("attributes"));
    server = SoftwareServer.start(folder, 2, "tcp://127.0.0.1:0");
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  private Finished run(String... arguments) throws Exception {
    List<String> program = new ArrayList<>(List.of("env", "GRAFT_STATS=1"));
    program.add(folder + "/attributes");
    program.addAll(List.of(arguments));
    Finished finished =
        Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), server.command(program));
    assertThat(finished.code()).as("%s", finished).isZero();
    return finished;
  }

  /** On another device than the current one a kernel's attributes are another wait. */
  @Test
  void aKernelAndItsAttributesAreOneWait() throws Exception {
    Finished program = run();
    assertThat(program.out())
        .isEqualTo(
            """
            one: 96 threads, 64 bytes
            two: 160 threads, 128 bytes
            set: 60000 and 49024
            the other device: 49088
            """);
    assertThat(program.err())
        .containsPattern("graftLibraryGetKernel_v2 +2 calls +2 waits")
        .containsPattern("graftFunctionAttributes +1 calls +1 waits")
        .doesNotContain("graftFunctionGetAttribute");
  }

  @Test
  void aFunctionAndItsAttributesAreOneWait() throws Exception {
    Finished program = run("of a module");
    assertThat(program.out())
        .isEqualTo(
            """
            one: 96 threads, 64 bytes
            two: 160 threads, 128 bytes
            set: 60000 and 49024
            """);
    assertThat(program.err())
        .containsPattern("graftModuleGetFunction_v2 +2 calls +2 waits")
        .doesNotContain("graftFunctionAttributes")
        .doesNotContain("graftFunctionGetAttribute");
  }
}
