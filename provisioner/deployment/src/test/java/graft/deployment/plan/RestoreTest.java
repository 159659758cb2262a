package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.deployment.apply.Applier;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.Steps;
import graft.deployment.apply.Undoer;
import graft.deployment.journal.Entry;
import graft.deployment.journal.Journal;
import graft.deployment.step.Step;
import graft.deployment.step.guest.GrantAccess;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An undo restores what was there before the last apply, killed at whatever moment. */
class RestoreTest extends FakeChains {
  static Stream<String> moments() {
    return NAMES.stream()
        .flatMap(
            n ->
                FakeStep.MOMENTS.stream()
                    .flatMap(m -> Stream.of("do ", "undo ").map(d -> d + n + " " + m)));
  }

  @Test
  void settingsAreThoseOfTheApplyBefore() throws Exception {
    apply(steps("1"));
    apply(steps("2"));
    undo();
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
    assertThat(read().isPartial()).isFalse();
    assertThat(plan(steps("1")).isEmpty()).as("as if the second apply had not been").isTrue();
  }

  @Test
  void aSecondUndoUndoesNothingMore() throws Exception {
    apply(steps("1"));
    apply(steps("2"));
    undo();
    assertThat(read().lastRunNewestFirst()).isEmpty();
    assertThat(read().replaced()).isEmpty();
    undo();
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
  }

  @Test
  void whatTheLastApplyRemovedComesBack() throws Exception {
    apply(steps("1"));
    apply(List.of(step("one", "1")));
    undo();
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
  }

  @Test
  void theFirstApplyLeavesNothing() throws Exception {
    apply(steps("1"));
    undo();
    assertThat(FakeStep.world(world)).isEmpty();
    assertThat(read().isEmpty()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("moments")
  void anApplyThatIsKilledIsUndoneToWhatWasBefore(String moment) throws Exception {
    apply(steps("1"));
    FakeStep.killAt(world, moment);
    Throwable killed = catchThrowable(() -> apply(steps("2")));
    assertThat(killed).as("killed").isNotNull();
    FakeStep.liveOn(world);
    undo();
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
    assertThat(read().isPartial()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("moments")
  void anUndoThatIsKilledIsFinishedByTheNextOne(String moment) throws Exception {
    apply(steps("1"));
    apply(steps("2"));
    FakeStep.killAt(world, moment);
    assertThat(catchThrowable(this::undo)).as("killed").isNotNull();
    FakeStep.liveOn(world);
    undo();
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
    assertThat(read().isPartial()).isFalse();
  }

  @Test
  void aStepThatIsUndoneByHalfIsUndoneBeforeItIsDoneAgain() throws Exception {
    apply(steps("1"));
    FakeStep.killAt(world, "undo two half");
    assertThat(catchThrowable(() -> apply(steps("2")))).as("killed").isNotNull();
    FakeStep.liveOn(world);
    assertThat(read().lastRunNewestFirst()).extracting(Step::name).containsExactly("two");
  }

  @Test
  void afterAFailedApplyTheFormerStateCanBeRestored() throws Exception {
    apply(steps("1"));
    FakeStep.failAt(world, "three");
    assertThat(catchThrowable(() -> apply(steps("2")))).as("failed").isNotNull();
    FakeStep.liveOn(world);
    undo();
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
  }

  @Test
  void aStepThatCannotBeRestoredIsAnErrorAndTheNextUndoContinues() throws Exception {
    apply(steps("1"));
    apply(steps("2"));
    FakeStep.failAt(world, "three");
    assertThat(undo()).containsExactly("guest g: three does not work");
    FakeStep.liveOn(world);
    assertThat(undo()).isEmpty();
    assertThat(FakeStep.world(world)).containsExactlyElementsOf(marks("1"));
  }

  private static GrantAccess grant(String settings) {
    return new GrantAccess("alice", "gpu0", Path.of("/t"), Path.of("/l"), settings);
  }

  private static void done(Journal journal, long run, Step step) {
    journal.begin(run, step, Map.of());
    journal.done(step, Map.of());
  }

  @Test
  void accessThatWasRevokedIsNotGivenBack() {
    try (Journal journal = Journal.open(file(), Steps.CODEC, Clock.systemUTC())) {
      done(journal, journal.apply("", ""), grant("memory=1"));
      done(journal, journal.apply("", ""), grant("memory=2"));
      assertThat(journal.state().replaced())
          .extracting(Entry::step)
          .containsExactly(grant("memory=1"));
      journal.note("revoke bob");
      assertThat(journal.state().replaced()).hasSize(1);
      journal.note("revoke alice");
      assertThat(journal.state().replaced()).as("revoked after the apply").isEmpty();
      done(journal, journal.apply("", ""), grant("memory=3"));
      assertThat(journal.state().replaced()).as("revoked before the apply").isEmpty();
      done(journal, journal.apply("", ""), grant("memory=4"));
      assertThat(journal.state().replaced()).as("granted since").hasSize(1);
      journal.note("detach");
      journal.undoing(grant("memory=4"));
      journal.undone(grant("memory=4"));
      assertThat(journal.state().replaced()).as("undone by another command").isEmpty();
    }
    assertThat(Journal.read(file(), Steps.CODEC).replaced()).as("read again").isEmpty();
  }

  /** As UndoRun does it. */
  private List<String> undo() throws Exception {
    try (Journal journal = open()) {
      List<Step> steps = journal.state().lastRunNewestFirst();
      journal.note("undo");
      List<String> errors = new Undoer(journal, context(journal), ApplyListener.NONE).undo(steps);
      return errors.isEmpty()
          ? new Applier(journal, context(journal), ApplyListener.NONE)
              .restore(journal.state().replaced())
          : errors;
    }
  }
}
