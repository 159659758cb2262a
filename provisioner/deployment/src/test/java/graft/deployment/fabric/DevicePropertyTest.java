package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.common.values.Name;
import graft.deployment.apply.ApplyFailedException;
import graft.deployment.plan.Plan;
import graft.sriov.RamTempDirFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * For random hosts and descriptors, by the provisioner's own plan, journal, apply and undo:
 * applying leaves nothing to do, and undoing leads to the first state; likewise when any single
 * change fails or the process ends there, before or after it has had its effect.
 */
class DevicePropertyTest {
  private static final boolean LONG = "all".equals(System.getenv("GRAFT_LONG_TESTS"));
  private static final int DEPLOYMENTS = Integer.getInteger("graft.set-ups", LONG ? 25 : 12);
  private static final int WITH_FAULTS = Integer.getInteger("graft.set-ups.faults", LONG ? 2 : 1);
  private static final Name SETUP = new Name("lab");

  @TempDir(factory = RamTempDirFactory.class)
  private Path folder;

  private int made;

  @Test
  void applyThenUndoGivesTheFirstStateBack() throws Exception {
    int steps = 0;
    for (int seed = 0; seed < DEPLOYMENTS; seed++) {
      RandomDeployment random = setUp(seed);
      SortedMap<String, String> first = state(random);
      Plan plan = random.host.plan(random.descriptor);
      random.host.apply(plan);
      assertThat(DeviceHost.lines(random.host.plan(random.descriptor)))
          .as("a second plan of deployment %d\n%s", seed, random.descriptor)
          .isEmpty();
      undo(random, first, "deployment " + seed);
      steps += DeviceHost.ofDevices(plan).actions().size();
    }
    assertThat(steps).as("the deployments are not all idle").isGreaterThan(5 * DEPLOYMENTS);
  }

  @Test
  void aFailureOfAnySingleChangeIsTakenBack() throws Exception {
    int faults = 0;
    for (int seed = 0; seed < WITH_FAULTS; seed++) {
      int changes = changes(seed);
      for (int number = 1; number <= changes; number++) {
        for (boolean afterEffect : new boolean[] {false, true}) {
          RandomDeployment random = setUp(seed);
          SortedMap<String, String> first = state(random);
          Plan plan = random.host.plan(random.descriptor);
          random.host.fake.faults().failChange(number, afterEffect);
          assertThat(catchThrowable(() -> random.host.apply(plan)))
              .isInstanceOf(ApplyFailedException.class)
              .hasMessageContaining("everything that this run did has been undone");
          random.host.fake.faults().none();
          assertThat(difference(first, state(random)))
              .as(
                  "deployment %d, change %d of %d, after its effect: %s",
                  seed, number, changes, afterEffect)
              .isEmpty();
          assertThat(random.host.journal(SETUP).isEmpty()).isTrue();
          faults++;
        }
      }
    }
    assertThat(faults).isGreaterThan(20 * WITH_FAULTS);
  }

  @Test
  void aProcessThatEndsAtAnyChangeCanBeUndoneAndCanGoOn() throws Exception {
    for (int seed = 0; seed < WITH_FAULTS; seed++) {
      int changes = changes(seed);
      for (int number = 1; number <= changes; number++) {
        boolean afterEffect = number % 2 == 1;
        String where = "deployment " + seed + ", ended at change " + number + " of " + changes;

        RandomDeployment undone = setUp(seed);
        SortedMap<String, String> first = state(undone);
        end(undone, number, afterEffect);
        undo(undone, first, where + ", undone");

        RandomDeployment finished = setUp(seed);
        end(finished, number, afterEffect);
        finished.host.apply(finished.host.plan(finished.descriptor));
        assertThat(DeviceHost.lines(finished.host.plan(finished.descriptor)))
            .as(where + ", gone on")
            .isEmpty();
        undo(finished, first, where + ", gone on and undone");
      }
    }
  }

  @Test
  void anUndoThatIsInterruptedCanBeRunAgain() throws Exception {
    for (int seed = 0; seed < WITH_FAULTS; seed++) {
      int changes = changes(seed);
      for (int number = 1; number <= changes; number++) {
        RandomDeployment random = setUp(seed);
        SortedMap<String, String> first = state(random);
        random.host.apply(random.host.plan(random.descriptor));
        random.host.fake.faults().failChange(number, number % 2 == 1);
        random.host.undo("lab");
        random.host.fake.faults().none();
        undo(random, first, "deployment " + seed + ", undo interrupted at " + number);
      }
    }
  }

  private static void end(RandomDeployment random, int number, boolean afterEffect)
      throws Exception {
    Plan plan = random.host.plan(random.descriptor);
    random.host.fake.faults().failChange(number, afterEffect);
    assertThat(catchThrowable(() -> random.host.applyAndStop(plan)))
        .isInstanceOf(ApplyFailedException.class);
    random.host.fake.faults().none();
  }

  private static void undo(RandomDeployment random, SortedMap<String, String> first, String where)
      throws Exception {
    assertThat(random.host.undo("lab")).as(where).isEmpty();
    assertThat(difference(first, state(random))).as(where).isEmpty();
    assertThat(random.host.claims()).as(where).isEmpty();
    assertThat(random.host.journal(SETUP).isEmpty()).as(where).isTrue();
  }

  private int changes(int seed) throws Exception {
    RandomDeployment random = setUp(seed);
    Plan plan = random.host.plan(random.descriptor);
    random.host.fake.faults().failChange(Integer.MAX_VALUE, false);
    random.host.apply(plan);
    return random.host.fake.faults().changes();
  }

  private RandomDeployment setUp(int seed) {
    return new RandomDeployment(folder.resolve("host" + made++), seed);
  }

  private static SortedMap<String, String> state(RandomDeployment random) {
    return new TreeMap<>(random.host.fake.state());
  }

  /** What is not the same, as {@code PATH: BEFORE, AFTER}. */
  private static List<String> difference(
      SortedMap<String, String> before, SortedMap<String, String> after) {
    SortedSet<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream()
        .filter(name -> !Objects.equals(before.get(name), after.get(name)))
        .map(name -> name + ": " + before.get(name) + ", " + after.get(name))
        .toList();
  }
}
