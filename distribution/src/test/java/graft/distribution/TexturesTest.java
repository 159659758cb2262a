package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Textures on memory: they may be longer than it. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class TexturesTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void aTextureBeginsInMemory(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "textures", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            longer than its memory: 999
            more rows than its memory: made
            memory that was freed: 1
            """);
  }
}
