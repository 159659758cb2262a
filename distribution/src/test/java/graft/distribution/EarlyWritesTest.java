package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Where the client sends the bytes of pinned memory, an asynchronous copy has them when it returns
 * ({@code src/test/c/early.c}). Over shared memory the server has given it to the driver by then:
 * the software device is slower than a GPU, so that this shows on a GPU alone.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class EarlyWritesTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "unix"})
  void aCopyHasTheBytesWhenItReturns(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "early", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo("copies with other bytes: 0\nbatches with other bytes: 0\n");
  }

  @Test
  void aBatchThatReadsItsSourcesDuringTheCallHasReadThem(@TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "early", "shm");
    assertThat(program.out()).as(program.err()).endsWith("\nbatches with other bytes: 0\n");
  }
}
