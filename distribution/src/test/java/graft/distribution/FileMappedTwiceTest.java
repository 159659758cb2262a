package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two mappings of one file are one memory, so that kernels can wait for each other there. */
final class FileMappedTwiceTest {
  @TempDir Path folder;

  @Test
  void kernelsWithEitherAddressSeeEachOther() throws Exception {
    Programs.build(folder, List.of("twice"));
    SoftwareServer server = SoftwareServer.forAllChannels(folder);
    try {
      for (String channel : List.of("tcp", "shm")) {
        Finished program =
            Finished.run(
                folder,
                server.environment(server.over(channel)),
                List.of(folder.resolve("twice").toString()));
        assertThat(program.out())
            .as("%s", program)
            .isEqualTo("kernels: 1 1 1 1\nwithout the first: 11 1\ncopied: 5\n");
        assertThat(program.code()).as("%s", program).isZero();
      }
    } finally {
      server.stop();
    }
  }
}
