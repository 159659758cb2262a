package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.deployment.apply.ApplyFailedException;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.Undoer;
import graft.deployment.journal.Journal;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Killed at any moment, a deployment can be finished, and it can be undone. */
class CrashMatrixTest extends FakeChains {
  static Stream<String> momentsOfDoing() {
    return NAMES.stream().flatMap(n -> FakeStep.MOMENTS.stream().map(m -> "do " + n + " " + m));
  }

  static Stream<String> momentsOfUndoing() {
    return NAMES.stream().flatMap(n -> FakeStep.MOMENTS.stream().map(m -> "undo " + n + " " + m));
  }

  @ParameterizedTest
  @MethodSource("momentsOfDoing")
  void applyGoesOn(String moment) throws Exception {
    killedApply(moment);
    apply(steps("1"));
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
    assertThat(read().isPartial()).isFalse();
    assertThat(plan(steps("1")).isEmpty()).as("applying again changes nothing").isTrue();
  }

  @ParameterizedTest
  @MethodSource("momentsOfDoing")
  void undoTakesItBack(String moment) throws Exception {
    killedApply(moment);
    assertThat(undo()).isEmpty();
    assertThat(FakeStep.world(world)).isEmpty();
    assertThat(read().isEmpty()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("momentsOfUndoing")
  void anUndoThatIsKilledCanBeFinished(String moment) throws Exception {
    apply(steps("1"));
    killedUndo(moment);
    assertThat(undo()).isEmpty();
    assertThat(FakeStep.world(world)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("momentsOfUndoing")
  void anUndoThatIsKilledCanBeTurnedRound(String moment) throws Exception {
    apply(steps("1"));
    killedUndo(moment);
    apply(steps("1"));
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
    assertThat(read().isPartial()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("momentsOfDoing")
  void aChangeThatIsKilledLeavesNothingOfTheOldState(String moment) throws Exception {
    apply(steps("1"));
    FakeStep.killAt(world, moment);
    assertThat(catchThrowable(() -> apply(steps("2")))).as("killed").isNotNull();
    FakeStep.liveOn(world);
    apply(steps("2"));
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("2"));
  }

  @Test
  void aStepThatFailsUndoesTheOnesBefore() {
    FakeStep.failAt(world, "three");
    assertThatThrownBy(() -> apply(steps("1")))
        .isInstanceOf(ApplyFailedException.class)
        .hasMessageContaining("guest g: three does not work")
        .hasMessageContaining("everything that this run did has been undone");
    assertThat(FakeStep.world(world)).isEmpty();
    assertThat(read().isEmpty()).isTrue();
  }

  @Test
  void stepsThatWereThereBeforeStayWhenALaterRunFails() throws Exception {
    apply(List.of(step("one", "1"), step("two", "1")));
    FakeStep.failAt(world, "four");
    assertThat(catchThrowable(() -> apply(steps("1")))).as("failed").isNotNull();
    assertThat(read().entries().keySet()).containsExactly("guest/g/one", "guest/g/two");
  }

  @Test
  void whatAStepThatCannotBeTakenBackStandsOnStays() throws Exception {
    apply(List.of(step("net", "bridge", "1")));
    apply(steps("1"));
    apply(List.of(step("other", "one", "1")));
    FakeStep.failAt(world, "undo three");
    assertThat(undo()).containsExactly("guest g: cannot undo 'three': undo three does not work");
    assertThat(read().entries().keySet())
        .as("neither its chain's earlier steps nor the network; the other guest is gone")
        .containsExactly("network/net/bridge", "guest/g/one", "guest/g/two", "guest/g/three");
    FakeStep.liveOn(world);
    assertThat(undo()).isEmpty();
    assertThat(FakeStep.world(world)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"free", "plugged"})
  void aStepThatCanBeLeftKeepsNothingElseOfItsChain(String name) throws Exception {
    apply(List.of(step("net", "bridge", "1")));
    apply(List.of(step("g", "one", "1"), step("g", name, "1"), step("g", "three", "1")));
    FakeStep.failAt(world, "undo " + name);
    assertThat(undo()).hasSize(1);
    assertThat(read().entries().keySet()).containsExactly("network/net/bridge", "guest/g/" + name);
  }

  private void killedApply(String moment) {
    FakeStep.killAt(world, moment);
    assertThat(catchThrowable(() -> apply(steps("1")))).as("killed").isNotNull();
    FakeStep.liveOn(world);
  }

  private void killedUndo(String moment) {
    FakeStep.killAt(world, moment);
    assertThat(catchThrowable(this::undo)).as("killed").isNotNull();
    FakeStep.liveOn(world);
  }

  private List<String> undo() throws Exception {
    try (Journal journal = open()) {
      return new Undoer(journal, context(journal), ApplyListener.NONE)
          .undo(journal.state().newestFirst());
    }
  }
}
