package graft.comparison.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Measurement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs that run at the same time; they are shell scripts which print what their guest says. */
@Timeout(120)
final class LoadsTest {
  @TempDir Path folder;
  private final List<String> warnings = new ArrayList<>();

  private Loads loads(Duration limit, String script) throws IOException {
    Path program = folder.resolve("program");
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return new Loads(program, 0.1, limit, warnings::add);
  }

  private static ProgramEnvironment as(String guest) {
    return new ProgramEnvironment("test", Map.of("GUEST", guest));
  }

  private static List<Load> busy(String... guests) {
    return java.util.Arrays.stream(guests).map(guest -> Load.busy(guest, 50)).toList();
  }

  private static final String FIGURE =
      "printf '{\"name\":\"busy\",\"size\":0,\"unit\":\"s\",\"samples\":[%s]}\\n' \"$1\"";

  @Test
  void allBeginWhenTheLastIsReady() throws Exception {
    Loads loads =
        loads(
            Duration.ofSeconds(30),
            "test $GUEST = slow && sleep 0.5; echo device; echo ready; read word start;"
                + " cd $(dirname $0); echo $start >> starts; set -- $(sort -u starts | wc -l);"
                + FIGURE);
    List<Optional<Measurement>> results = loads.together(busy("quick", "slow"), 1, LoadsTest::as);
    assertThat(results)
        .as("the number of different times that the programs were told")
        .extracting(result -> result.orElseThrow().value())
        .containsExactly(1.0, 1.0);
    assertThat(warnings).isEmpty();
  }

  @Test
  void aProgramThatFailsIsAFailedSampleAndEndsNoOther() throws Exception {
    Loads loads =
        loads(
            Duration.ofSeconds(30),
            "test $GUEST = early && { echo 'graft: no place' >&2; echo 'result=failed: early'; exit 1; }; echo ready;"
                + " read line; test $GUEST = late && { echo 'result=failed: late'; exit 1; };"
                + " set -- 2.5;"
                + FIGURE);
    List<Optional<Measurement>> results =
        loads.together(busy("early", "late", "good"), 1, LoadsTest::as);
    assertThat(Loads.busy("busy", 7, results).samples()).containsExactly(null, null, 2.5);
    assertThat(warnings)
        .containsExactly(
            "a program of early failed: result=failed: early (graft: no place)",
            "a program of late failed: result=failed: late");
  }

  @Test
  void aProgramThatIsNeverReadyIsKilledAtItsLimit() throws Exception {
    Loads loads =
        loads(Duration.ofMillis(500), "test $GUEST = good || exec sleep 1000; echo ready; read l");
    assertThat(loads.together(busy("hangs"), 1, LoadsTest::as)).containsExactly(Optional.empty());
  }

  @Test
  void aCalibrationThatFailsSaysWhy() throws Exception {
    Loads loads = loads(Duration.ofSeconds(30), "echo 'result=failed: no driver'; exit 1");
    assertThatThrownBy(() -> loads.calibrate(as("a")))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("no driver");
  }

  @Test
  void theProgramIsToldItsLoad() throws Exception {
    Loads loads =
        loads(
            Duration.ofSeconds(30),
            "echo ready; read line; test \"$*\" = 'sharing only=busy kernel=50 rounds=1234.50"
                + " seconds=0.100' || { echo \"$*\"; exit 1; }; set -- 1;"
                + FIGURE);
    assertThat(loads.together(busy("a"), 1234.5, LoadsTest::as)).allMatch(Optional::isPresent);
    assertThat(warnings).isEmpty();
  }

  @Test
  void partsAreComputedFromTheGpuTimes() {
    Used used = new Used(List.of(3.0, 1.0));
    assertThat(used.percent(0)).hasValue(75);
    assertThat(used.inUse(5)).hasValue(80);
    assertThat(used.error(List.of(70.0, 30.0))).hasValue(5);
    assertThat(used.relativeError(List.of(70.0, 30.0)).getAsDouble())
        .isCloseTo(16.67, org.assertj.core.api.Assertions.within(0.01));
    assertThat(used.fairness()).hasValue(0.8);
  }

  @Test
  void nothingIsSaidOfAFailedProgramAndOfNoTime() {
    Used failed = new Used(java.util.Arrays.asList(3.0, null));
    assertThat(List.of(failed.percent(0), failed.inUse(5), failed.fairness()))
        .containsOnly(OptionalDouble.empty());
    Used nothing = new Used(List.of(0.0, 0.0));
    assertThat(nothing.inUse(5)).hasValue(0);
    assertThat(nothing.fairness()).isEmpty();
  }
}
