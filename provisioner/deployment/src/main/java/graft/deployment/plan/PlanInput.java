package graft.deployment.plan;

import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.fabric.DevicePlan;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.Layout;
import graft.hypervisors.libvirt.Hypervisor;

/**
 * The input of a plan.
 *
 * @param hypervisor the one that would run the guests
 * @param devices the plan for the host's devices, once it is made
 */
public record PlanInput(
    DescriptorFile file,
    Snapshot snapshot,
    JournalState journal,
    Layout layout,
    Hypervisor hypervisor,
    DevicePlan devices) {

  /** Before the plan for devices is made. */
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
