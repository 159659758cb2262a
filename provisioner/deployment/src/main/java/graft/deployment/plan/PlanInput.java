package graft.deployment.plan;

import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.fabric.DevicePlan;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.Layout;
import graft.hypervisors.libvirt.Hypervisor;
import java.util.Map;

/**
 * The input of a plan.
 *
 * @param hypervisor the one that would run the guests
 * @param devices the plan for the host's devices, once it is made
 * @param others the journals of the host's other deployments, by their names
 */
public record PlanInput(
    DescriptorFile file,
    Snapshot snapshot,
    JournalState journal,
    Layout layout,
    Hypervisor hypervisor,
    DevicePlan devices,
    Map<String, JournalState> others) {

  /** Before the plan for devices is made. */
  public PlanInput(
      DescriptorFile file,
      Snapshot snapshot,
      JournalState journal,
      Layout layout,
      Hypervisor hypervisor) {
    this(file, snapshot, journal, layout, hypervisor, DevicePlan.NONE, Map.of());
  }

  /** On a host with other deployments. */
  public PlanInput beside(Map<String, JournalState> deployments) {
    return new PlanInput(file, snapshot, journal, layout, hypervisor, devices, deployments);
  }

  PlanInput with(DevicePlan known) {
    return new PlanInput(file, snapshot, journal, layout, hypervisor, known, others);
  }

  Descriptor descriptor() {
    return file.descriptor();
  }
}
