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
 * A wait for other work is not taken for the end of a copy to pinned memory ({@code
 * src/test/c/orders.c}).
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class OrdersTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "unix", "shm"})
  void theBytesOfACopyAreThereAfterAWaitForIt(String channel, @TempDir Path folder)
      throws Exception {
    Finished program = SoftwareServer.run(folder, "orders", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            a wait for another stream: right
            a host function in another stream: right
            a question that was answered no: right
            a new stream in the place of one that was destroyed: right
            an event that was recorded again: right
            a wait for an event that was recorded again: right
            a wait for another event, and a question that was answered no: right
            an event that was recorded again during a wait for it: right
            a wait for an event behind the copy: right
            the same, and a wait for the copy: right
            a question that was answered yes: right
            the same, and a wait for the copy: right
            an event behind the copy: right
            the same, and a wait for the copy: right
            a host function behind two events: right
            the same, and a wait for the copy: right
            an event that was recorded in a capture: right
            an event that a graph has recorded: right
            a wait for an event that a graph has recorded: right
            """);
  }
}
