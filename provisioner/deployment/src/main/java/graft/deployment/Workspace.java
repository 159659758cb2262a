package graft.deployment;

import graft.common.GraftException;
import graft.deployment.apply.Applier;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.fabric.JournalKnowledge;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.observe.Observer;
import graft.deployment.observe.Snapshot;
import graft.deployment.placement.GpuPlacement;
import graft.deployment.plan.GuestPayload;
import graft.deployment.plan.Plan;
import graft.deployment.plan.PlanInput;
import graft.deployment.plan.Planner;
import graft.deployment.programs.RunningPrograms;
import graft.deployment.programs.ServerQuestion;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.Layout;
import graft.deployment.state.StateFolder;
import graft.hypervisors.kvm.KvmHypervisor;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.lxc.LxcHypervisor;
import graft.hypervisors.xen.XenHypervisor;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A descriptor on this host: the common part of the commands that plan. */
public final class Workspace implements AutoCloseable {
  private final DescriptorFile file;
  private final StateFolder state;
  private final Connections connections;
  private final Optional<ServerQuestion> question;

  public Workspace(Path descriptor) throws InvalidDescriptorException {
    this(DescriptorReader.read(descriptor));
  }

  /**
   * A descriptor that was read.
   *
   * @throws GraftException if it is of many hosts, each of which has a workspace of its own
   */
  public Workspace(DescriptorFile file) {
    this(file, new Connections(), Optional.empty());
    Deployments.refuseHosts(file);
  }

  /**
   * A descriptor that was read, whose plans say which programs they end.
   *
   * @param question for the servers of this deployment
   * @throws GraftException if it is of many hosts, each of which has a workspace of its own
   */
  public Workspace(DescriptorFile file, ServerQuestion question) {
    this(file, new Connections(), Optional.of(question));
    Deployments.refuseHosts(file);
  }

  /** A descriptor whose connections also serve others; whoever closes it closes them. */
  Workspace(DescriptorFile file, Connections connections) {
    this(file, connections, Optional.empty());
  }

  private Workspace(
      DescriptorFile file, Connections connections, Optional<ServerQuestion> question) {
    this.file = file;
    this.state = StateFolder.of(file.descriptor().deploymentName());
    this.connections = connections;
    this.question = question;
  }

  /** A copy with one guest replaced; it shares the connections. */
  public Workspace with(Guest before, Guest after) {
    file.positions().same(after, before);
    Descriptor changed = file.descriptor().with(before, after);
    return new Workspace(
        new DescriptorFile(changed, file.path(), file.positions()), connections, question);
  }

  public DescriptorFile file() {
    return file;
  }

  public StateFolder state() {
    return state;
  }

  public Connections connections() {
    return connections;
  }

  public JournalState journal() {
    return Journal.read(state.journal(), Steps.CODEC);
  }

  public Snapshot observe(JournalState journal) {
    return new Observer(connections)
        .observe(GpuPlacement.recorded(file, journal), state, JournalKnowledge.of(journal));
  }

  /**
   * The plan.
   *
   * @throws graft.deployment.plan.UnfitHostException if this host does not fit
   */
  public Plan plan(JournalState journal, Snapshot snapshot) {
    SecondFile.refuse(file, journal);
    Plan plan = Planner.plan(input(journal, snapshot));
    return question.map(ask -> new RunningPrograms(journal, ask).in(plan)).orElse(plan);
  }

  /**
   * The payload of each guest.
   *
   * @throws graft.deployment.plan.UnfitHostException if this host does not fit
   */
  public List<GuestPayload> payloads(JournalState journal, Snapshot snapshot) {
    return Planner.payloads(input(journal, snapshot));
  }

  /**
   * The domain of each guest that Graft would make, for another program to own.
   *
   * @throws graft.deployment.plan.UnfitHostException if this host does not fit
   */
  public List<ExportedDomain> domains(JournalState journal, Snapshot snapshot) {
    return Planner.definitions(input(journal, snapshot)).stream().map(ExportedDomain::of).toList();
  }

  /**
   * Changes the host to match the descriptor.
   *
   * @param keep whether to undo nothing after a failed step
   * @return the plan that was carried out
   * @throws DataKeptException before anything is changed, if data would be deleted without consent
   */
  public Plan apply(boolean keep, Consent consent, DeploymentProgress progress) throws Exception {
    return apply(Optional.empty(), keep, consent, progress);
  }

  /**
   * Changes the host to match the descriptor, if that is what was planned before.
   *
   * @param saved the earlier plan; empty to do whatever the plan is now
   * @throws StalePlanException before anything is changed, if the plan is another one now
   */
  public Plan apply(
      Optional<SavedPlan> saved, boolean keep, Consent consent, DeploymentProgress progress)
      throws Exception {
    return DeploymentLock.holding(state, () -> locked(saved, keep, consent, progress));
  }

  private Plan locked(
      Optional<SavedPlan> saved, boolean keep, Consent consent, DeploymentProgress progress)
      throws Exception {
    try (Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      JournalState before = journal.state();
      Plan plan = plan(before, observe(before));
      saved.ifPresent(earlier -> earlier.require(plan, before));
      if (saved.isEmpty() && !plan.isEmpty()) { // who has saved a plan has seen it
        consent.requireChange("apply", plan::toText);
      }
      plan.warnings().forEach(progress::warning);
      if (plan.isEmpty()) {
        return plan;
      }
      consent.require("apply", plan.deletedData());
      String name = plan.deployment();
      String path = file.path().toAbsolutePath().normalize().toString();
      LiveContext context = new LiveContext(connections, journal, progress);
      Applier applier = new Applier(journal, context, progress);
      return progress.interruptible(
          "interrupted: graft apply " + path + " continues, graft undo " + name + " undoes it",
          () -> {
            applier.apply(plan, path, keep);
            return plan;
          });
    }
  }

  private PlanInput input(JournalState journal, Snapshot snapshot) {
    Layout layout = Layout.of(state, snapshot.host().root());
    return new PlanInput(file, snapshot, journal, layout, hypervisor(snapshot)).beside(others());
  }

  /**
   * The journals of this user's other deployments, where a guest asks for a part of a GPU that they
   * may have; without those that cannot be read.
   */
  private Map<String, JournalState> others() {
    Map<String, JournalState> others = new TreeMap<>();
    if (file.descriptor().guests().stream()
        .flatMap(g -> g.vgpus().stream())
        .noneMatch(VGpu::claims)) {
      return others;
    }
    for (StateFolder other : StateFolder.all()) {
      if (!other.deployment().equals(state.deployment())) {
        try {
          others.put(other.deployment().text(), Deployments.journal(other));
        } catch (GraftException e) {
          // Its servers' arbiter keeps the shares anyway; graft list says that it is damaged.
        }
      }
    }
    return others;
  }

  /**
   * The libvirt URI of the descriptor; for {@code auto}, that of the daemon which runs the guests.
   */
  private Hypervisor hypervisor(Snapshot snapshot) {
    return switch (file.descriptor().hypervisor()) {
      case XEN -> new XenHypervisor();
      case LXC -> new LxcHypervisor();
      case KVM, QEMU -> new KvmHypervisor();
      case AUTO ->
          snapshot.libvirt().capabilities().filter(new XenHypervisor()::accepts).isPresent()
              ? new XenHypervisor()
              : new KvmHypervisor();
    };
  }

  @Override
  public void close() {
    connections.close();
  }
}
