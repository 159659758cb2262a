package graft.comparison.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.json.Json;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs in these tests are shell scripts that tell from the environment whether they run
 * natively or remotely.
 */
@Timeout(120)
class FidelityTest {
  private static final ProgramEnvironment REMOTE =
      new ProgramEnvironment("server", Map.of("GRAFT_SERVER", "tcp://nowhere:1"));

  @TempDir Path folder;
  private final List<String> progress = new ArrayList<>();

  private void program(String name, String script) throws IOException {
    Path file = folder.resolve(name);
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private List<Fidelity.Outcome> run(ProgramEnvironment local, Duration limit) throws Exception {
    return new Fidelity(local, REMOTE, limit, progress::add).run(Fidelity.programs(folder));
  }

  private Map<String, String> verdicts() throws Exception {
    return run(ProgramEnvironment.ofThisMachine(), Duration.ofSeconds(20)).stream()
        .collect(
            java.util.stream.Collectors.toMap(
                Fidelity.Outcome::program, Fidelity.Outcome::verdict));
  }

  @Test
  void eachProgramRunsBothWays() throws Exception {
    program("same", "echo 42");
    program("fails-there", "test -z \"$GRAFT_SERVER\"");
    program("fails-here", "test -n \"$GRAFT_SERVER\"");
    program("differs", "echo \"${GRAFT_SERVER:-this machine}\"");
    Files.writeString(folder.resolve("notes.txt"), "no program");
    assertThat(verdicts())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "same", "passes",
                "fails-there", "fails remotely",
                "fails-here", "fails natively",
                "differs", "differs"));
  }

  @Test
  void linesThatDifferBetweenNativeRunsTooDoNotCount() throws Exception {
    program("time", "echo result 7; echo process $$");
    program("wrong", "echo process $$; echo \"result ${GRAFT_SERVER:-7}\"");
    assertThat(verdicts()).containsEntry("time", "passes").containsEntry("wrong", "differs");
  }

  /** The first two runs of each script print the same seed, and later runs another one. */
  @Test
  void aNumberThatTheTimeDecidesIsNoDifference() throws Exception {
    String first = "n=$(cat $0.n 2>/dev/null); echo 1$n > $0.n; test ${#n} -lt 2 || n=late; ";
    program("seeded", first + "echo \"seed ${n#1}\"");
    program("wrong", first + "echo \"seed ${n#1}\"; echo \"result ${GRAFT_SERVER:-7}\"");
    assertThat(verdicts()).containsEntry("seeded", "passes").containsEntry("wrong", "differs");
  }

  @Test
  void theTableSaysWhereOutputsDiffer() throws Exception {
    program("line", "echo process $$; echo \"a ${GRAFT_SERVER:-7} b\"");
    program("shorter", "echo 1; test -n \"$GRAFT_SERVER\" || echo 2");
    program(
        "unsteady",
        "n=$(cat $0.n 2>/dev/null); echo 1$n > $0.n; test -n \"$GRAFT_SERVER\" || echo 2;"
            + " test -z \"$n\" || echo 3");
    assertThat(Fidelity.table(run(ProgramEnvironment.ofThisMachine(), Duration.ofSeconds(20))))
        .contains("| line | passed | passed | differs: line 2: a 7 b; there: a tcp://nowhere:1 b |")
        .contains("| shorter | passed | passed | differs: 2 lines; there: 1 |")
        .contains("| unsteady | passed | passed | differs: not there: 2 |")
        .contains("differs in output: 3 (line, shorter, unsteady)");
  }

  @Test
  void aProgramThatDoesNotEndIsEndedWithItsChildren() throws Exception {
    program("hangs", "sleep 600 & echo $! > \"$0.child\"; wait");
    List<Fidelity.Outcome> outcomes = run(null, Duration.ofSeconds(1));
    assertThat(outcomes.get(0).remote().ending()).isEqualTo("timed out");
    long child = Long.parseLong(Files.readString(folder.resolve("hangs.child")).strip());
    assertThat(ProcessHandle.of(child).map(ProcessHandle::onExit).map(end -> end.join()))
        .isNotNull();
    assertThat(ProcessHandle.of(child).filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  void theListsSayWhatPassesWhere() throws Exception {
    program("a", "true");
    program("b", "test -z \"$GRAFT_SERVER\" || { echo no such device >&2; exit 3; }");
    assertThat(Fidelity.table(run(ProgramEnvironment.ofThisMachine(), Duration.ofSeconds(20))))
        .contains("| b | passed | exit code 3: no such device | fails remotely |")
        .contains("passes natively: 2 (a, b)")
        .contains("passes remotely: 1 (a)")
        .contains("differs in output: 0");
    assertThat(progress)
        .containsExactly(
            String.format("%-40s passes", "a"),
            String.format("%-40s fails remotely: exit code 3: no such device", "b"));
  }

  @Test
  void eachProgramRunsWithEmptyCachesAndWithTheFilledOnes() throws Exception {
    program(
        "compiles",
        "mkdir \"$CUDA_CACHE_PATH\" 2>/dev/null || test -e \"$CUDA_CACHE_PATH/a\"; touch"
            + " \"$CUDA_CACHE_PATH/a\"");
    program("only-once", "test -e \"$CUDA_CACHE_PATH\" && exit 4; mkdir \"$CUDA_CACHE_PATH\"");
    List<Fidelity.Outcome> outcomes =
        run(ProgramEnvironment.ofThisMachine(), Duration.ofSeconds(20));
    assertThat(outcomes.get(0).verdict()).isEqualTo("passes");
    assertThat(outcomes.get(0).times())
        .extracting(m -> m.setting() + " " + m.state() + " " + m.measured().size())
        .containsExactly("native empty 1", "native filled 1", "server empty 1", "server filled 1");
    assertThat(outcomes.get(1).remote().ending()).isEqualTo("exit code 4");
    Path json = folder.resolve("outcomes.json");
    Files.writeString(json, Json.pretty(Fidelity.tree(outcomes)));
    assertThat(new Results().add(json).settings()).containsExactly("native", "server");
  }

  @Test
  void graftsOwnMeasuringProgramIsNoTest() throws Exception {
    program("graft-workload", "exit 2");
    program("a", "true");
    assertThat(Fidelity.programs(folder)).containsExactly(folder.resolve("a"));
  }

  @Test
  void aFolderWithoutProgramsIsAnError() {
    assertThatThrownBy(() -> Fidelity.programs(folder))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("no executable file");
  }
}
