package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A capture takes fills at any address, but its graph cannot be instantiated, and no work of the
 * server ends a capture ({@code src/test/c/nowhere.c}).
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class CapturedFillsTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void aGraphAloneNeedsMemory(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "nowhere", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            outside of a capture: 1
            captured: 0 0 0 0
            nodes: 4, of type 2 2 2 2
            captured: 0 0 0 0
            nodes: 4, of type 2 2 2 2
            instantiated: 1
            ended: 0
            freed: 900, ended: 901, freed: 0, freed again: 1
            """);
  }
}
