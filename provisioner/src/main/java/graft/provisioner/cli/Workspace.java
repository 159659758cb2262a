package graft.provisioner.cli;

import graft.hypervisors.kvm.KvmHypervisor;
import graft.provisioner.apply.Steps;
import graft.provisioner.descriptor.DescriptorFile;
import graft.provisioner.descriptor.DescriptorReader;
import graft.provisioner.descriptor.InvalidDescriptorException;
import graft.provisioner.journal.Journal;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Connections;
import graft.provisioner.observe.Observer;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.plan.Plan;
import graft.provisioner.plan.PlanInput;
import graft.provisioner.plan.Planner;
import graft.provisioner.state.Layout;
import graft.provisioner.state.StateFolder;
import java.nio.file.Path;

/** A descriptor on this host: what commands that plan have in common. */
final class Workspace implements AutoCloseable {
  private final DescriptorFile file;
  private final StateFolder state;
  private final Connections connections = new Connections();

  Workspace(Path descriptor) throws InvalidDescriptorException {
    file = DescriptorReader.read(descriptor);
    state = StateFolder.of(file.descriptor().setupName());
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
    String known = journal.isEmpty() ? "" : journal.uri();
    return new Observer(connections).observe(file, state, known);
  }

  /**
   * The plan.
   *
   * @throws graft.provisioner.plan.UnfitHostException if this host does not fit
   */
  Plan plan(JournalState journal, Snapshot snapshot) {
    Layout layout = Layout.of(state, snapshot.host().root());
    return Planner.plan(new PlanInput(file, snapshot, journal, layout, new KvmHypervisor()));
  }

  @Override
  public void close() {
    connections.close();
  }
}
