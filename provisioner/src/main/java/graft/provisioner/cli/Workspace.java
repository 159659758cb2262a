package graft.provisioner.cli;

import graft.hypervisors.kvm.KvmHypervisor;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.xen.XenHypervisor;
import graft.provisioner.apply.Steps;
import graft.provisioner.descriptor.Descriptor;
import graft.provisioner.descriptor.DescriptorFile;
import graft.provisioner.descriptor.DescriptorReader;
import graft.provisioner.descriptor.InvalidDescriptorException;
import graft.provisioner.descriptor.guest.Guest;
import graft.provisioner.fabric.JournalKnowledge;
import graft.provisioner.journal.Journal;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Connections;
import graft.provisioner.observe.Observer;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.plan.GuestPayload;
import graft.provisioner.plan.Plan;
import graft.provisioner.plan.PlanInput;
import graft.provisioner.plan.Planner;
import graft.provisioner.state.Layout;
import graft.provisioner.state.StateFolder;
import java.nio.file.Path;
import java.util.List;

/** A descriptor on this host: what commands that plan have in common. */
final class Workspace implements AutoCloseable {
  private final DescriptorFile file;
  private final StateFolder state;
  private final Connections connections;

  Workspace(Path descriptor) throws InvalidDescriptorException {
    this(DescriptorReader.read(descriptor));
  }

  Workspace(DescriptorFile file) {
    this(file, new Connections());
  }

  private Workspace(DescriptorFile file, Connections connections) {
    this.file = file;
    this.state = StateFolder.of(file.descriptor().setupName());
    this.connections = connections;
  }

  /** The same with another guest in the place of one; it shares the connections. */
  Workspace with(Guest before, Guest after) {
    file.positions().same(after, before);
    Descriptor changed = file.descriptor().with(before, after);
    return new Workspace(new DescriptorFile(changed, file.path(), file.positions()), connections);
  }

  DescriptorFile file() {
    return file;
  }

  StateFolder state() {
    return state;
  }

  Connections connections() {
    return connections;
  }

  JournalState journal() {
    return Journal.read(state.journal(), Steps.CODEC);
  }

  Snapshot observe(JournalState journal) {
    return new Observer(connections).observe(file, state, JournalKnowledge.of(journal));
  }

  /**
   * The plan.
   *
   * @throws graft.provisioner.plan.UnfitHostException if this host does not fit
   */
  Plan plan(JournalState journal, Snapshot snapshot) {
    return Planner.plan(input(journal, snapshot));
  }

  /**
   * What each guest is to have.
   *
   * @throws graft.provisioner.plan.UnfitHostException if this host does not fit
   */
  List<GuestPayload> payloads(JournalState journal, Snapshot snapshot) {
    return Planner.payloads(input(journal, snapshot));
  }

  private PlanInput input(JournalState journal, Snapshot snapshot) {
    Layout layout = Layout.of(state, snapshot.host().root());
    return new PlanInput(file, snapshot, journal, layout, hypervisor(snapshot));
  }

  /** The one that is asked for, or whose guests the daemon runs. */
  private Hypervisor hypervisor(Snapshot snapshot) {
    boolean xen =
        switch (file.descriptor().hypervisor()) {
          case XEN -> true;
          case AUTO ->
              snapshot.libvirt().capabilities().filter(new XenHypervisor()::accepts).isPresent();
          case KVM, QEMU -> false;
        };
    return xen ? new XenHypervisor() : new KvmHypervisor();
  }

  @Override
  public void close() {
    connections.close();
  }
}
