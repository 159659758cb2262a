package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions of workers that had no context before, by {@code graft serve --spare-context off}. */
final class SpareContextTest {
  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server =
        SoftwareServer.start(
            folder,
            Map.of(),
            List.of("--spare-context", "off"),
            "tcp://127.0.0.1:0",
            "unix://" + folder.resolve("socket"));
    Programs.build(folder, List.of("settled"));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "unix", "tcp"})
  void aProgramMakesItsOwn(String channel) throws Exception {
    for (String what : List.of("parameters", "kernels", "streams")) {
      Finished program =
          Finished.run(
              folder,
              server.environment(server.over(channel)),
              List.of(folder.resolve("settled").toString(), what));
      assertThat(program.out()).as(program.err()).isEqualTo("other bytes: 0\n");
    }
  }

  /** The arguments of the workers that run; a worker that begins or ends has none. */
  private static List<String> argumentsOfWorkers() {
    return server.workers().stream()
        .map(worker -> arguments(worker.pid()))
        .filter(words -> words.contains("\0software\0"))
        .toList();
  }

  private static String arguments(long process) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(process), "cmdline"));
    } catch (IOException e) {
      return ""; // the process has ended
    }
  }

  @Test
  void theSpareIsToldToMakeNone() throws Exception {
    List<String> found = new ArrayList<>();
    SshHosts.until(() -> found.addAll(argumentsOfWorkers()));
    assertThat(found)
        .allSatisfy(words -> assertThat(words.split("\0")).endsWith("software", "0", "false"));
  }
}
