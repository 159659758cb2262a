package graft.provisioner.cli;

import graft.provisioner.GraftException;
import graft.provisioner.apply.Applier;
import graft.provisioner.apply.LiveContext;
import graft.provisioner.apply.Steps;
import graft.provisioner.descriptor.guest.Guest;
import graft.provisioner.fabric.GivenDevice;
import graft.provisioner.journal.Journal;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.plan.Action;
import graft.provisioner.plan.Plan;
import graft.provisioner.state.SetupLock;
import graft.provisioner.state.StateFolder;
import graft.provisioner.step.Step;
import graft.provisioner.values.Name;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft attach}: gives a guest a device of the host. */
@Command(
    name = "attach",
    mixinStandardHelpOptions = true,
    header = "Gives a guest a device of the host, while it runs.",
    description = {
      "",
      "Takes the device from the host, as graft plan would for a device of the descriptor, and plugs"
          + " it into the guest. The descriptor stays as it is: the next graft apply takes the"
          + " device back unless it is written there.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft attach lab.yaml alice 0000:65:00.0    a PCI device; of a GPU all functions",
      "  graft attach lab alice ib0:2                virtual function 2 of the adapter ib0",
      "  graft attach lab alice ib0                  any that is free",
      "  graft attach --plan lab alice ib0           only says what it would do"
    })
final class AttachCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin GivenToGuest given;

  @Override
  public Integer call() throws Exception {
    StateFolder state = given.target.state();
    GivenDevice device = given.device();
    return SetupLock.holding(state, () -> attach(state, device));
  }

  private int attach(StateFolder state, GivenDevice device) throws Exception {
    try (Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      JournalState before = journal.state();
      GuestReach.of(before, given.guest); // or says which guests there are
      try (Workspace workspace = new Workspace(Path.of(before.descriptor()))) {
        device.requireFunctions(workspace.file(), before);
        Guest described = described(workspace);
        Workspace changed = workspace.with(described, device.addTo(described));
        Snapshot snapshot = changed.observe(before);
        Plan present = workspace.plan(before, snapshot);
        Plan plan = giving(device, present, changed.plan(before, snapshot), before);
        output.say(plan.toText().stripTrailing());
        if (!given.only && !plan.isEmpty()) {
          carryOut(plan, workspace, journal);
          if (!device.isIn(described)) {
            output.say(
                "graft apply takes it back unless the guest in "
                    + before.descriptor()
                    + " has "
                    + device.inDescriptor());
          }
        }
        output.result(plan.toTree());
        return ExitCode.OK;
      }
    }
  }

  private Guest described(Workspace workspace) {
    return workspace
        .file()
        .descriptor()
        .guest(new Name(given.guest))
        .orElseThrow(
            () ->
                new GraftException(
                    "the guest '" + given.guest + "' is no longer in " + workspace.file().path(),
                    "graft apply takes it away"));
  }

  /**
   * What the changed plan does to give the guest the device; of any function of an adapter, the one
   * that the present plan does not give it.
   */
  private Plan giving(GivenDevice device, Plan present, Plan changed, JournalState journal) {
    Set<String> there = new HashSet<>();
    present.actions().forEach(action -> there.add(action.step().id()));
    // A device that was taken already may have to be attached alone.
    List<Step> steps = new ArrayList<>(journal.newestFirst());
    changed.actions().forEach(action -> steps.add(action.step()));
    Set<Step> giving = new HashSet<>(device.stepsOf(given.guest, steps, journal));
    List<Action> actions =
        changed.actions().stream()
            .filter(action -> action.kind() == Action.Kind.DO && giving.contains(action.step()))
            .filter(action -> !device.isAny() || !there.contains(action.step().id()))
            .toList();
    return new Plan(changed.setup(), changed.uri(), actions, List.of(), List.of());
  }

  private void carryOut(Plan plan, Workspace workspace, Journal journal) throws Exception {
    TextProgress progress = new TextProgress(output.err());
    LiveContext context = new LiveContext(workspace.connections(), journal, progress);
    Applier applier = new Applier(journal, context, progress);
    String descriptor = journal.state().descriptor();
    Interruption.told(
        output.err(),
        "interrupted: graft undo " + plan.setup() + " takes it back",
        () -> {
          applier.apply(plan, descriptor, false);
          return plan;
        });
  }
}
