package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A context that is gone, and what ended with it, are refused at once and cause no later error
 * ({@code src/test/c/ended_contexts.c}).
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class EndedContextsTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void whatWasMadeInAContextEndsWithIt(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "ended_contexts", channel);
    String things =
        ": launch 400, attribute 400, functions 709, unload 709, flags 1, advice 1, free 1, again 1"
            + "; later 0\n";
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            "gone: destroy 709, id 709, record 709, its event 709, push 0, wait 709, device 709,"
                + " pop 0\n"
                + ("destroyed" + things)
                + "its event: record 709, await 709, destroy 709; a pool's memory: read 0, 5 and 5,"
                + " free 0, again 1; later 0\n"
                + "a capture: wait for another context 0, end 0\n"
                + ("reset and made again" + things));
  }

  /** Their work is over or forgotten by then, and no thread of the worker ends in an error. */
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm", "unix"})
  void contextsThatHaveWorkEnd(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "busy_contexts", channel);
    assertThat(program.out()).as(program.err()).isEqualTo("right: 40 of 40\n");
    assertThat(Files.readString(folder.resolve("server.log"))).doesNotContain("Exception", "Error");
  }
}
