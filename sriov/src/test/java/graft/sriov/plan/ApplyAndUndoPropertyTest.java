package graft.sriov.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.sriov.fake.Faults.InjectedFault;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.Journal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * For random hosts and requests: after applying, nothing is left to do, and undoing restores the
 * first state. Both also hold if any single change fails, before or after its effect, and if
 * undoing is itself interrupted in this way.
 */
class ApplyAndUndoPropertyTest {
  private static final int HOSTS = Integer.getInteger("graft.hosts", 40);
  private static final int HOSTS_WITH_FAULTS = Integer.getInteger("graft.hosts.faults", 4);

  @TempDir private Path folder;
  private int made;

  @Test
  void applyThenUndoGivesTheFirstStateBack() {
    int operations = 0;
    for (int seed = 0; seed < HOSTS; seed++) {
      RandomHost random = host(seed);
      SortedMap<String, String> first = random.fake.state();
      Journal journal = new Journal(random.host);

      List<DeviceChange> plan = plan(random);
      journal.apply(plan);
      assertThat(plan(random)).as("a second plan for host %d", seed).isEmpty();
      journal.undo();

      assertThat(difference(first, random.fake.state())).as("host %d after undo", seed).isEmpty();
      operations += plan.size();
    }
    assertThat(operations).as("the hosts are not all idle").isGreaterThan(5 * HOSTS);
  }

  @Test
  void aFailureOfAnySingleChangeIsTakenBack() {
    int faults = 0;
    for (int seed = 0; seed < HOSTS_WITH_FAULTS; seed++) {
      int changes = changes(seed);
      for (int number = 1; number <= changes; number++) {
        for (boolean afterEffect : new boolean[] {false, true}) {
          RandomHost random = host(seed);
          SortedMap<String, String> first = random.fake.state();
          Journal journal = new Journal(random.host);
          List<DeviceChange> plan = plan(random);

          random.fake.faults().failChange(number, afterEffect);
          assertThatThrownBy(() -> journal.apply(plan)).isInstanceOf(InjectedFault.class);
          random.fake.faults().none();
          List<String> log = random.fake.takeLog();
          journal.undo();

          assertThat(difference(first, random.fake.state()))
              .as(
                  "host %d, change %d of %d failed %s its effect: %s",
                  seed, number, changes, afterEffect ? "after" : "before", log)
              .isEmpty();
          faults++;
        }
      }
    }
    assertThat(faults).isGreaterThan(20 * HOSTS_WITH_FAULTS);
  }

  @Test
  void anUndoThatIsInterruptedCanBeRunAgain() {
    int faults = 0;
    for (int seed = 0; seed < HOSTS_WITH_FAULTS; seed++) {
      int changes = changes(seed);
      for (int number = 1; number <= changes; number += 2) {
        RandomHost random = host(seed);
        SortedMap<String, String> first = random.fake.state();
        Journal journal = new Journal(random.host);
        journal.apply(plan(random));

        random.fake.faults().failChange(number, number % 4 == 1);
        try {
          journal.undo();
        } catch (InjectedFault expected) {
          faults++;
        }
        random.fake.faults().none();
        journal.undo();

        assertThat(difference(first, random.fake.state()))
            .as("host %d, undo interrupted at %d", seed, number)
            .isEmpty();
      }
    }
    assertThat(faults).isGreaterThan(5 * HOSTS_WITH_FAULTS);
  }

  /** The differences, as {@code PATH: BEFORE, AFTER}. */
  private static List<String> difference(
      SortedMap<String, String> before, SortedMap<String, String> after) {
    SortedSet<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream()
        .filter(name -> !Objects.equals(before.get(name), after.get(name)))
        .map(name -> name + ": " + before.get(name) + ", " + after.get(name))
        .toList();
  }

  private int changes(int seed) {
    RandomHost random = host(seed);
    List<DeviceChange> plan = plan(random);
    random.fake.faults().failChange(Integer.MAX_VALUE, false);
    new Journal(random.host).apply(plan);
    return random.fake.faults().changes();
  }

  private RandomHost host(int seed) {
    return new RandomHost(folder.resolve("host" + made++), seed);
  }

  private static List<DeviceChange> plan(RandomHost random) {
    HostState state = HostState.read(random.host);
    List<DeviceChange> all = new ArrayList<>(new VfPlanner(state).plan(random.vfs));
    all.addAll(new PassthroughPlanner(state).plan(random.passthrough).operations());
    return all;
  }
}
