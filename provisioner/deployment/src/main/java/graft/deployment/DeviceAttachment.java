package graft.deployment;

import graft.common.GraftException;
import graft.common.values.Name;
import graft.deployment.apply.Applier;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.fabric.DeviceArgument;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Snapshot;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.device.AssignsDevice;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A device of the host that is attached to a running guest, or detached from it. */
public final class DeviceAttachment {
  private final StateFolder state;
  private final String guest;
  private final String named;
  private final DeviceArgument device;

  /**
   * @param named the device as a user writes it
   * @throws GraftException if the text names no device
   */
  public DeviceAttachment(StateFolder state, String guest, String named) {
    this.state = state;
    this.guest = guest;
    this.named = named;
    this.device = DeviceArgument.parse(named);
  }

  /** Receives the plan before it is carried out. */
  public interface PlanListener {
    void planned(Plan plan);
  }

  /**
   * What attaching did.
   *
   * @param plan what was to be done
   * @param descriptor the file that the deployment was applied from
   * @param described whether the descriptor assigns the device to the guest too
   * @param inDescriptor the entry of the descriptor that would assign it
   */
  public record Attached(Plan plan, String descriptor, boolean described, String inDescriptor) {}

  /**
   * Attaches the device.
   *
   * @param onlyPlan whether to plan only, without changing anything
   */
  public Attached attach(boolean onlyPlan, PlanListener listener, DeploymentProgress progress)
      throws Exception {
    return DeploymentLock.holding(state, () -> locked(onlyPlan, listener, progress));
  }

  private Attached locked(boolean onlyPlan, PlanListener listener, DeploymentProgress progress)
      throws Exception {
    try (Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      JournalState before = journal.state();
      AppliedGuest.of(before, guest); // throws, naming the guests, if there is no such guest
      try (Workspace workspace = new Workspace(Path.of(before.descriptor()))) {
        device.requireFunctions(workspace.file(), before);
        Guest described = described(workspace);
        if (described.root().isPresent()) {
          throw atItsStart("write it into " + workspace.file().path() + ", then graft apply");
        }
        Workspace changed = workspace.with(described, device.addTo(described));
        Snapshot snapshot = changed.observe(before);
        Plan present = workspace.plan(before, snapshot);
        Plan plan = giving(present, changed.plan(before, snapshot), before);
        listener.planned(plan);
        if (!onlyPlan && !plan.isEmpty()) {
          carryOut(plan, workspace, journal, progress);
        }
        return new Attached(
            plan, before.descriptor(), device.isIn(described), device.inDescriptor());
      }
    }
  }

  private Guest described(Workspace workspace) {
    return workspace
        .file()
        .descriptor()
        .guest(new Name(guest))
        .orElseThrow(
            () ->
                new GraftException(
                    "the guest '" + guest + "' is no longer in " + workspace.file().path(),
                    "graft apply removes it"));
  }

  /**
   * The actions of the changed plan that assign the device to the guest. For an adapter without an
   * index, those of the function that the present plan does not assign.
   */
  private Plan giving(Plan present, Plan changed, JournalState journal) {
    Set<String> there = new HashSet<>();
    present.actions().forEach(action -> there.add(action.step().id()));
    // A device that is bound already may only have to be attached.
    List<Step> steps = new ArrayList<>(journal.newestFirst());
    changed.actions().forEach(action -> steps.add(action.step()));
    Set<Step> giving = new HashSet<>(device.stepsOf(guest, steps, journal));
    List<Action> actions =
        changed.actions().stream()
            .filter(action -> action.kind() == Action.Kind.DO && giving.contains(action.step()))
            .filter(action -> !device.isAny() || !there.contains(action.step().id()))
            .toList();
    return new Plan(changed.deployment(), changed.uri(), actions, List.of(), List.of());
  }

  private static void carryOut(
      Plan plan, Workspace workspace, Journal journal, DeploymentProgress progress)
      throws Exception {
    LiveContext context = new LiveContext(workspace.connections(), journal, progress);
    Applier applier = new Applier(journal, context, progress);
    String descriptor = journal.state().descriptor();
    progress.interruptible(
        "interrupted: graft undo " + plan.deployment() + " undoes it",
        () -> {
          applier.apply(plan, descriptor, false);
          return plan;
        });
  }

  /** What {@link #detach} would do. */
  public Plan detachPlan() {
    JournalState journal = Deployments.journal(state);
    List<Action> actions =
        stepsToUndo(journal).stream().map(step -> new Action(Action.Kind.UNDO, step, "")).toList();
    return new Plan(state.deployment().text(), journal.uri(), actions, List.of(), List.of());
  }

  /** Takes the device from the guest. */
  public UndoRun.Result detach(DeploymentProgress progress) throws Exception {
    return new UndoRun(state, "detach", progress).run(this::stepsToUndo, Consent.NONE);
  }

  private List<Step> stepsToUndo(JournalState journal) {
    AppliedGuest.of(journal, guest); // throws, naming the guests, if there is no such guest
    List<Step> steps = device.stepsOf(guest, journal);
    if (steps.isEmpty()) {
      List<String> has =
          journal.entries().values().stream()
              .map(entry -> entry.step())
              .filter(step -> step.chain().equals(Chain.guest(guest)))
              .filter(AssignsDevice.class::isInstance)
              .map(step -> ((AssignsDevice) step).assigned())
              .toList();
      throw new GraftException(
          "the guest '" + guest + "' was not given " + named,
          has.isEmpty() ? "it has no device of the host" : "it has " + String.join(", ", has));
    }
    if (steps.stream().anyMatch(step -> step instanceof AssignsDevice a && !a.isAttached())) {
      throw atItsStart("take it out of " + journal.descriptor() + ", then graft apply");
    }
    return steps;
  }

  private GraftException atItsStart(String next) {
    return new GraftException(
        "the container '" + guest + "' gets and loses devices of the host only when it starts",
        next + ": it restarts the container");
  }
}
