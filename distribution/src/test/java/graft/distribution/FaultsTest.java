package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * After a kernel has failed, every call returns the same result as natively: {@code faults.txt} was
 * recorded on an H200 with driver 580.159 ({@code src/test/c/faults.c} is the program).
 */
final class FaultsTest {
  @TempDir Path folder;
  private SoftwareServer server;

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  @Test
  void everyCallAnswersAsNatively() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Programs.gcc("-o", folder.resolve("faults").toString(), "src/test/c/faults.c", "-ldl");
    String recorded =
        new String(
            FaultsTest.class.getResourceAsStream("/faults.txt").readAllBytes(),
            StandardCharsets.UTF_8);
    for (String channel : List.of("tcp", "shm")) {
      Finished program =
          Finished.run(
              folder,
              server.environment(server.over(channel)),
              List.of(folder.resolve("faults").toString()),
              Duration.ofMinutes(3));
      assertThat(program.code()).as("%s", program).isZero();
      assertThat(program.out()).as(channel).isEqualTo(recorded);
      // CUDA writes the message of a failed assertion to the program's standard error.
      assertThat(program.err()).as(channel).contains(" Assertion `A` failed.");
    }
  }
}
