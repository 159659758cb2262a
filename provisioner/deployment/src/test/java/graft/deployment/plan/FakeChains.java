package graft.deployment.plan;

import graft.deployment.apply.Applier;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.LiveContext;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.step.Step;
import graft.deployment.step.StepCodec;
import graft.deployment.step.StepKind;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** Plans and applies chains of fake steps with a real journal, for tests that kill them. */
abstract class FakeChains {
  static final List<String> NAMES = List.of("one", "two", "three", "four");

  private static final StepCodec CODEC =
      new StepCodec(List.of(new StepKind("fake", FakeStep.class)), Map.of());

  @TempDir Path folder;
  final String world = UUID.randomUUID().toString();

  final void apply(List<Step> wanted) throws Exception {
    Plan plan = plan(wanted);
    try (Journal journal = open()) {
      new Applier(journal, context(journal), ApplyListener.NONE).apply(plan, "lab.yaml", false);
    }
  }

  final Plan plan(List<Step> wanted) {
    ChainPlan chain = new ChainPlan(wanted.get(0).chain(), wanted, read(), null);
    List<Action> actions = new ArrayList<>(chain.undo());
    actions.addAll(chain.todo());
    return new Plan("lab", "test:///default", actions, List.of(), List.of());
  }

  static LiveContext context(Journal journal) {
    return new LiveContext(new Connections(), journal, ApplyListener.NONE);
  }

  final Journal open() {
    return Journal.open(file(), CODEC, Clock.systemUTC());
  }

  final JournalState read() {
    return Journal.read(file(), CODEC);
  }

  final Path file() {
    return folder.resolve("journal.jsonl");
  }

  final List<Step> steps(String version) {
    return NAMES.stream().map(name -> step(name, version)).toList();
  }

  final Step step(String name, String version) {
    return step("g", name, version);
  }

  final Step step(String guest, String name, String version) {
    return new FakeStep(world, guest, name, version);
  }

  /** What all steps of a version leave in the world. */
  static List<String> marks(String version) {
    return NAMES.stream()
        .flatMap(n -> Stream.of("g/" + n + "@" + version + "#1", "g/" + n + "@" + version + "#2"))
        .sorted()
        .toList();
  }
}
