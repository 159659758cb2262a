package graft.deployment.plan;

import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.fabric.DevicePlan;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.Layout;
import graft.hypervisors.libvirt.Hypervisor;

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
