package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Conditional nodes of graphs, also captured ones: which bodies run, and in which order. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class ConditionalGraphsTest {
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void theBodiesRunThatAreChosen(String channel, @TempDir Path folder) throws Exception {
    Finished program = SoftwareServer.run(folder, "conditional_graphs", channel);
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            if, 0: 99
            if, 1: 0 1 99
            if, 2: 0 1 99
            if, 3: 0 1 99
            if, -1: 0 1 99
            if with else, 0: 10 11 99
            if with else, 1: 0 1 99
            if with else, 2: 0 1 99
            if with else, 3: 0 1 99
            if with else, -1: 0 1 99
            switch, 0: 0 1 99
            switch, 1: 10 11 99
            switch, 2: 20 21 99
            switch, 3: 99
            switch, -1: 99
            while, 3: 7 5 7 5 7 5
            while, 1: 7 5
            set in a body: 0
            while, 2: 8 5 8 5
            captured into a body: 0 and 1 nodes
            captured into a body: 0, which is the same
            captured, 3: 1 2 2 2 4
            a condition of another graph: 1
            a loop with two bodies: 1
            a clone: 1
            a child graph: 1
            """);
  }
}
