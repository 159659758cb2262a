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
 * Graphs that use overlapping parts of pageable memory, of which the client may keep two copies for
 * the device: what such a graph copies is right, or it writes such a part and is refused.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class PageableGraphsTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void noCopyIsOutOfDate(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "pageable_graphs", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            a part of the part: right
            another part: refused
            parts that earlier graphs named: right
            another part, after another graph was made: refused
            another part, after the graph was instantiated: refused
            another part in a child graph: refused
            the same, added to the child graph later: refused
            another part in a clone: refused
            another part by a node's parameters: refused
            another part by those of an executable graph: refused
            parts that are read: right
            one of them written later: refused
            and another one read
            parts of two graphs, one behind the other: right
            every other byte: right
            """);
  }
}
