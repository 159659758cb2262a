package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.step.Step;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a chain has to undo and to do, from what it should have and what it has. */
class ChainPlanTest {
  private final String world = UUID.randomUUID().toString();
  private final Map<String, Entry> journal = new LinkedHashMap<>();

  @Test
  void everythingIsDoneInALaneThatHasNothing() {
    assertThat(plan("a1", "b1")).containsExactly("+ mark a", "+ mark b");
  }

  @Test
  void nothingIsDoneInALaneThatHasEverything() {
    done("a1", "b1");
    assertThat(plan("a1", "b1")).isEmpty();
  }

  @Test
  void aChangedStepTakesBackWhatStandsOnIt() {
    done("a1", "b1", "c1");
    assertThat(plan("a1", "b2", "c1"))
        .containsExactly("- undo: mark c", "- undo: mark b", "+ mark b (changed)", "+ mark c");
  }

  @Test
  void aStepThatIsGoneFromTheHostIsDoneAgainAfterWhatStoodOnIt() {
    done("a1", "b1", "c1");
    FakeStep.world(world).removeIf(mark -> mark.startsWith("g/b"));
    assertThat(plan("a1", "b1", "c1"))
        .containsExactly("- undo: mark c", "+ mark b (gone from the host)", "+ mark c");
  }

  @Test
  void anInterruptedStepIsFinished() {
    done("a1");
    entry("b1", Entry.Status.BEGUN);
    assertThat(plan("a1", "b1", "c1")).containsExactly("+ mark b (was interrupted)", "+ mark c");
  }

  @Test
  void aStepThatIsNoLongerWantedGoes() {
    done("a1", "b1");
    assertThat(plan("a1")).containsExactly("- undo: mark b (no longer in the descriptor)");
  }

  @Test
  void aFileThatIsNewIsUsedByNoStepThatStays() {
    done("a1", "c1");
    assertThat(plan("a1", "free1", "c1")).containsExactly("+ mark free");
    entry("free1", Entry.Status.BEGUN);
    assertThat(plan("a1", "free1", "c1")).containsExactly("+ mark free (was interrupted)");
    done("d1");
    assertThat(plan("a1", "free1", "c1", "d1"))
        .as("what came after it may use it")
        .contains("- undo: mark d", "- undo: mark c");
  }

  private void done(String... steps) {
    for (String step : steps) {
      entry(step, Entry.Status.DONE);
      step(step).apply(null);
    }
  }

  private void entry(String step, Entry.Status status) {
    journal.put(step(step).id(), new Entry(step(step), 1, status, Map.of(), Map.of()));
  }

  private FakeStep step(String nameAndVersion) {
    int end = nameAndVersion.length() - 1;
    return new FakeStep(
        world, "g", nameAndVersion.substring(0, end), nameAndVersion.substring(end));
  }

  private List<String> plan(String... wanted) {
    List<Step> steps = java.util.Arrays.stream(wanted).map(s -> (Step) step(s)).toList();
    ChainPlan plan =
        new ChainPlan(steps.get(0).chain(), steps, new JournalState(journal, 1, "", ""), null);
    return java.util.stream.Stream.concat(plan.undo().stream(), plan.todo().stream())
        .map(Action::toString)
        .toList();
  }
}
