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
 * Memory that a worker keeps for the next allocation is free for the program ({@code
 * src/test/c/freed.c}); and memory of other processes that several threads open and close ({@code
 * src/test/c/opened.c}).
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class FreedMemoryTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void memoryThatIsFreedIsGone(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "freed", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            all memory is free again: yes
            freed twice: 1
            read: 1
            written: 1
            memory for more: 2
            freed again: 1
            two blocks at the same place: no
            device memory: unmapped 1
            managed memory: unmapped 1
            managed memory: freed in a stream 801
            pinned memory: unregistered 1
            pinned memory: freed in a stream 1
            """);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void threadsOpenMemoryWhileOthersCloseTheirs(String channel, @TempDir Path folder)
      throws Exception {
    Finished program = SoftwareServer.run(folder, "opened", channel);
    assertThat(program.out()).as(program.err()).isEqualTo("opened and closed 2000 times\n");
  }
}
