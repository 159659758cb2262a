package graft.provisioner.plan;

import graft.hypervisors.libvirt.Hypervisor;
import graft.provisioner.descriptor.Descriptor;
import graft.provisioner.descriptor.DescriptorFile;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.state.Layout;

/**
 * All that a plan follows from.
 *
 * @param hypervisor the one that would run the guests
 */
public record PlanInput(
    DescriptorFile file,
    Snapshot snapshot,
    JournalState journal,
    Layout layout,
    Hypervisor hypervisor) {

  Descriptor descriptor() {
    return file.descriptor();
  }
}
