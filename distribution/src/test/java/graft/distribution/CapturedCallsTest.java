package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A capture forbids the calls that it forbids natively, ends only by those that end it natively,
 * and what frees memory waits beside it as natively ({@code src/test/c/captured_calls.c}).
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class CapturedCallsTest {
  /** What the program prints natively, with driver 580.159.04 on an H200. */
  private static final Path NATIVELY = Path.of("src/test/c/captured_calls.txt");

  /** The software device has no mipmapped arrays. */
  private static final String MIPMAPS = "cuMipmappedArray";

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm", "unix"})
  void aCaptureForbidsWhatItForbidsNatively(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "captured_calls", channel);
    assertThat(without(program.out().lines().toList()))
        .as(program.err())
        .containsExactlyElementsOf(without(Files.readAllLines(NATIVELY)));
  }

  private static List<String> without(List<String> lines) {
    return lines.stream().filter(line -> !line.startsWith(MIPMAPS)).toList();
  }
}
