package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A captured stream refuses what CUDA does not capture, and its capture is then invalid; other
 * streams go on ({@code src/test/c/uncaptured_work.c}). The refusals are recorded in {@code
 * client/test/answers}, and CUDA's programming guide says that a prohibited operation makes the
 * capture invalid.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class UncapturedWorkTest {
  /** Unsupported, then invalid until the capture has ended. */
  private static final String IN_EACH_MODE = " 900/901/901/0/0/0".repeat(3);

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void aCapturedStreamRefusesWhatIsNotCaptured(String channel, @TempDir Path folder)
      throws Exception {
    Finished program = SoftwareServer.run(folder, "uncaptured_work", channel);
    Stream<String> calls =
        Stream.of(
            "cuMemPrefetchAsync",
            "cuMemPrefetchBatchAsync",
            "cuMemDiscardBatchAsync",
            "cuMemDiscardAndPrefetchBatchAsync",
            "cuStreamAttachMemAsync",
            "cuStreamAddCallback",
            "cuMemcpyPeerAsync",
            "cuMemcpy3DPeerAsync",
            "cuStreamGetFlags",
            "cuStreamGetId",
            "cuStreamGetDevice");
    List<String> launches =
        List.of(
            "packed: 0, captured 1, not cooperative 0, by pointers 0, the end 0",
            "packed node: invalid, not cooperative: accepted, by pointers: accepted");
    assertThat(program.out().lines())
        .as(program.err())
        .containsExactlyElementsOf(
            Stream.concat(calls.map(name -> name + ":" + IN_EACH_MODE), launches.stream())
                .toList());
  }
}
