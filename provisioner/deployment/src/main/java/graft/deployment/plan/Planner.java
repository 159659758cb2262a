package graft.deployment.plan;

import graft.common.bind.Problems;
import graft.common.values.Name;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.fabric.DevicePlan;
import graft.deployment.fabric.DevicePlanner;
import graft.deployment.observe.HostFacts;
import graft.deployment.placement.GpuPlacement;
import graft.deployment.placement.RemoteGuests;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.guest.BringsPayload;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.MakeRoot;
import graft.deployment.step.host.HostServer;
import graft.sriov.StubDriver;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Makes plans. The same input gives the same plan. */
public final class Planner {
  private Planner() {}

  /**
   * The plan that changes the host to match the descriptor.
   *
   * @throws UnfitHostException with all problems
   */
  public static Plan plan(PlanInput given) {
    PlanInput input = withDevices(given);
    DevicePlan devices = input.devices();
    Map<Chain, List<Step>> wanted = new LinkedHashMap<>();
    devices.steps().forEach(step -> add(wanted, step));
    if (!devices.first()) {
      rest(input, wanted);
    }
    refuseForeignDisks(input, wanted);
    List<Action> actions = actions(input, wanted);
    return new Plan(
        input.descriptor().deploymentName().text(),
        input.snapshot().libvirt().uri(),
        actions,
        warnings(input, devices),
        notes(input, devices, actions),
        channels(input, wanted),
        consequences(input, actions),
        input.choices(),
        Map.of());
  }

  private static Map<Chain, String> consequences(PlanInput input, List<Action> actions) {
    Map<Chain, List<Action>> chains =
        actions.stream().collect(Collectors.groupingBy(action -> action.step().chain()));
    Map<Chain, String> consequences = new LinkedHashMap<>();
    chains.forEach(
        (chain, own) -> {
          List<Step> there =
              input.journal().newestFirst().stream()
                  .filter(step -> step.chain().equals(chain))
                  .toList();
          String words = Consequence.of(chain, there, own, obstacle(input, own));
          if (!words.isEmpty()) {
            consequences.put(chain, words);
          }
        });
    return consequences;
  }

  /** Why a guest that is defined anew does not get its devices while it runs. */
  private static String obstacle(PlanInput input, List<Action> actions) {
    return actions.stream()
        .filter(action -> action.kind() == Action.Kind.DO)
        .map(Action::step)
        .filter(DefineGuest.class::isInstance)
        .map(DefineGuest.class::cast)
        .findFirst()
        .flatMap(
            define ->
                input
                    .descriptor()
                    .guest(new Name(define.guest()))
                    .map(guest -> DevicesInPlace.of(input, guest, define).obstacle()))
        .orElse("");
  }

  /** The input with a GPU for each vGPU that says any; the other checks need to know it. */
  private static PlanInput withGpus(PlanInput input) {
    Problems problems = new Problems();
    GpuPlacement.Placed placed =
        GpuPlacement.place(
            input.file(), input.snapshot(), input.journal(), input.others(), problems);
    if (!problems.isEmpty()) {
      throw new UnfitHostException(problems.sorted());
    }
    return input.with(placed);
  }

  /** The input with the plan for the host's devices, if there are no problems. */
  private static PlanInput withDevices(PlanInput given) {
    PlanInput input = withGpus(given);
    Problems problems = new Problems();
    new NotSupportedYet(input, problems).check();
    new SharePreflight(input, problems).check();
    new Preflight(input, problems).check();
    DevicePlan devices =
        new DevicePlanner(
                input.file(),
                input.snapshot(),
                input.journal(),
                input.layout().state(),
                input.snapshot().libvirt().capabilities().flatMap(input.hypervisor()::numa),
                StubDriver.of(input.hypervisor().deviceDriver()))
            .plan(problems);
    for (Guest guest : input.descriptor().guests()) {
      if (guest.existing().isPresent()) {
        new ExistingMachine(input, guest).checkSlots(devices.of(guest.name()).devices(), problems);
      }
    }
    if (!problems.isEmpty()) {
      throw new UnfitHostException(problems.sorted());
    }
    return input.with(devices);
  }

  /**
   * A disk, or a container's root folder, that no journal knows may hold what nobody has elsewhere:
   * it is not written over.
   */
  private static void refuseForeignDisks(PlanInput input, Map<Chain, List<Step>> wanted) {
    Problems problems = new Problems();
    for (Guest guest : input.descriptor().guests()) {
      for (Step step : wanted.getOrDefault(Chain.guest(guest.name().text()), List.of())) {
        if (step instanceof CreateDisk disk
            && input.journal().entry(disk.id()).isEmpty()
            && disk.isDone(input.snapshot())) {
          problems.add(
              input.file().positions().of(guest, "name"),
              "there is a file " + disk.target() + ", which no apply on record has made",
              "move it away, or delete it if nobody needs it");
        } else if (step instanceof MakeRoot root
            && input.journal().entry(root.id()).isEmpty()
            && root.isDone(input.snapshot())) {
          problems.add(
              input.file().positions().of(guest, "name"),
              "there is a folder " + root.folder() + ", which no apply on record has made",
              "move it away, or delete it if nobody needs it");
        }
      }
    }
    if (!problems.isEmpty()) {
      throw new UnfitHostException(problems.sorted());
    }
  }

  /**
   * The steps that do not concern the host's devices, and existing steps that may have to be
   * undone.
   */
  private static void rest(PlanInput input, Map<Chain, List<Step>> wanted) {
    ServerSteps servers = new ServerSteps(input);
    servers.grantLimit().ifPresent(step -> add(wanted, step));
    NetworkSteps.of(input).forEach(step -> add(wanted, step));
    servers.steps().forEach(step -> add(wanted, step));
    RemoteGuests.access(input.file(), servers::tokens).forEach(step -> add(wanted, step));
    for (Guest guest : input.descriptor().guests()) {
      List<Step> steps =
          guest.existing().isPresent()
              ? new ExistingMachine(input, guest).steps(servers)
              : new GuestSteps(input, servers, guest, input.devices().of(guest.name())).steps();
      steps.forEach(step -> add(wanted, step));
    }
    input
        .journal()
        .entries()
        .values()
        .forEach(entry -> wanted.computeIfAbsent(entry.step().chain(), chain -> List.of()));
  }

  /**
   * The definition of each guest that Graft would make, whether it is there or not.
   *
   * @throws UnfitHostException with all problems
   */
  public static List<DefineGuest> definitions(PlanInput given) {
    PlanInput input = withDevices(given);
    Map<Chain, List<Step>> wanted = new LinkedHashMap<>();
    rest(input, wanted);
    return wanted.values().stream()
        .flatMap(List::stream)
        .filter(DefineGuest.class::isInstance)
        .map(DefineGuest.class::cast)
        .toList();
  }

  /**
   * The payload of each guest of the descriptor.
   *
   * @throws UnfitHostException with all problems
   */
  public static List<GuestPayload> payloads(PlanInput given) {
    PlanInput input = withDevices(given);
    return input.descriptor().guests().stream()
        .map(guest -> new GuestPayload(input, guest))
        .toList();
  }

  private static void add(Map<Chain, List<Step>> chains, Step step) {
    chains.computeIfAbsent(step.chain(), chain -> new ArrayList<>()).add(step);
  }

  private static List<Action> actions(PlanInput input, Map<Chain, List<Step>> wanted) {
    List<Action> undo = new ArrayList<>();
    List<Action> todo = new ArrayList<>();
    wanted.forEach(
        (chain, steps) -> {
          ChainPlan plan = new ChainPlan(chain, steps, input.journal(), input.snapshot());
          undo.addAll(plan.undo());
          todo.addAll(plan.todo());
        });
    todo.addAll(lostGrants(wanted, undo, todo));
    Comparator<Action> byPhase = Comparator.comparing(action -> action.step().chain().phase());
    undo.sort(byPhase.reversed());
    todo.sort(byPhase);
    undo.addAll(todo);
    return undo;
  }

  /**
   * The guests' grants that are lost with the list of a server that is undone, and nothing else
   * would make again.
   */
  private static List<Action> lostGrants(
      Map<Chain, List<Step>> wanted, List<Action> undo, List<Action> todo) {
    Set<String> undone =
        undo.stream()
            .map(Action::step)
            .filter(HostServer.class::isInstance)
            .map(step -> ((HostServer) step).gpu())
            .collect(Collectors.toSet());
    Set<String> again = todo.stream().map(a -> a.step().id()).collect(Collectors.toSet());
    return wanted.values().stream()
        .flatMap(List::stream)
        .filter(step -> step instanceof GrantAccess grant && undone.contains(grant.gpu()))
        .filter(step -> !again.contains(step.id()))
        .map(step -> new Action(Action.Kind.DO, step, "its server is replaced"))
        .toList();
  }

  /** The choices: devices, and the install methods of guests with a payload. */
  private static List<String> notes(PlanInput input, DevicePlan devices, List<Action> actions) {
    List<String> notes = new ArrayList<>(devices.notes());
    for (Guest guest : input.descriptor().guests()) {
      if (guest.existing().isPresent()) {
        new ExistingMachine(input, guest).whenAttached(actions).ifPresent(notes::add);
      }
      boolean brings =
          actions.stream()
              .filter(a -> a.kind() == Action.Kind.DO && a.step() instanceof BringsPayload)
              .anyMatch(a -> a.step().chain().equals(Chain.guest(guest.name().text())));
      if (brings && guest.existing().isPresent()) {
        notes.addAll(new ExistingMachine(input, guest).notes());
      } else if (brings) {
        InstallMethodChoice.of(input, guest).note(guest).ifPresent(notes::add);
      }
    }
    return notes;
  }

  private static List<ChannelChoice> channels(PlanInput input, Map<Chain, List<Step>> wanted) {
    return input.descriptor().guests().stream()
        .map(guest -> guest.name().text())
        .map(
            guest ->
                ChannelChoice.of(input, guest, wanted.getOrDefault(Chain.guest(guest), List.of())))
        .flatMap(Optional::stream)
        .toList();
  }

  private static List<String> warnings(PlanInput input, DevicePlan devices) {
    // What the hypervisor says of this host is no news once guests are there.
    List<String> warnings =
        new ArrayList<>(
            input.descriptor().usesLibvirt() && input.journal().isEmpty()
                ? input
                    .hypervisor()
                    .warnings(input.snapshot().libvirt().capabilities().orElseThrow())
                : List.of());
    warnings.addAll(devices.warnings());
    ServerSteps servers = new ServerSteps(input);
    warnings.addAll(servers.warnings());
    warnings.addAll(SharePreflight.warnings(input.descriptor()));
    HostFacts host = input.snapshot().host();
    for (Guest guest : input.descriptor().guests()) {
      warnings.addAll(new GuestCards(input, guest).warnings());
      warnings.addAll(new GuestBundles(input, servers, guest).warnings());
      List<GuestChannels> channels = GuestChannels.of(input, guest);
      channels.forEach(one -> one.warning().ifPresent(warnings::add));
      channels.forEach(one -> one.oldRegion().ifPresent(warnings::add));
      channels.stream().flatMap(one -> one.unusedRdma().stream()).distinct().forEach(warnings::add);
      if (guest.cpus() > host.cpus()) {
        warnings.add(
            "the guest '" + guest.name() + "' has more CPUs than the host (" + host.cpus() + ")");
      }
    }
    String before = input.journal().descriptor();
    String now = input.file().path().toAbsolutePath().normalize().toString();
    if (!before.isEmpty() && !before.equals(now)) {
      warnings.add(
          "'" + input.descriptor().deploymentName() + "' was applied from " + before + " before");
    }
    return warnings;
  }
}
