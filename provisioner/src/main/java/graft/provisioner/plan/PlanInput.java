package graft.provisioner.plan;

import graft.hypervisors.libvirt.Hypervisor;
import graft.provisioner.descriptor.Descriptor;
import graft.provisioner.descriptor.DescriptorFile;
import graft.provisioner.fabric.DevicePlan;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.state.Layout;

/**
 * All that a plan follows from.
 *
 * @param hypervisor the one that would run the guests
 * @param devices what is to be done with the host's devices, once that is known
 */
public record PlanInput(
    DescriptorFile file,
    Snapshot snapshot,
    JournalState journal,
    Layout layout,
    Hypervisor hypervisor,
    DevicePlan devices) {

  /** Before anything is known of devices. */
  public PlanInput(
      DescriptorFile file,
      Snapshot snapshot,
      JournalState journal,
      Layout layout,
      Hypervisor hypervisor) {
    this(file, snapshot, journal, layout, hypervisor, DevicePlan.NONE);
  }

  PlanInput with(DevicePlan known) {
    return new PlanInput(file, snapshot, journal, layout, hypervisor, known);
  }

  Descriptor descriptor() {
    return file.descriptor();
  }
}
