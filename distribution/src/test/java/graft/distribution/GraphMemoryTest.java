package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that one graph allocates and another frees ({@code src/test/c/graph_memory.c}). */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class GraphMemoryTest {
  /** The answers are a driver's (580.159.04, H100). */
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void anotherGraphMayFreeItWhetherItIsAllocatedOrNot(String channel, @TempDir Path folder)
      throws Exception {
    Finished program = SoftwareServer.run(folder, "graph_memory", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            not launched, the graph exists: 0, and by cuGraphAddNode_v2 0
            not launched: 0, and by cuGraphAddNode_v2 0
            launched: 0, and by cuGraphAddNode_v2 0
            freed: 0, and by cuGraphAddNode_v2 0
            freed in a stream: 0, and by cuGraphAddNode_v2 0
            freed by the other graph: cuMemFree 1
            """);
  }
}
