package graft.deployment.plan;

import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.fabric.DevicePlan;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Snapshot;
import graft.deployment.placement.Choice;
import graft.deployment.placement.GpuPlacement;
import graft.deployment.state.Layout;
import graft.deployment.step.Step;
import graft.deployment.step.guest.ChooseGpu;
import graft.hypervisors.libvirt.Hypervisor;
import java.util.List;
import java.util.Map;

/**
 * The input of a plan.
 *
 * @param hypervisor the one that would run the guests
 * @param devices the plan for the host's devices, once it is made
 * @param others the journals of the host's other deployments, by their names
 * @param choices the GPUs that were chosen for vGPUs of the file that say any, once they are
 */
public record PlanInput(
    DescriptorFile file,
    Snapshot snapshot,
    JournalState journal,
    Layout layout,
    Hypervisor hypervisor,
    DevicePlan devices,
    Map<String, JournalState> others,
    List<Choice> choices) {

  /** Before the plan for devices is made. */
  public PlanInput(
      DescriptorFile file,
      Snapshot snapshot,
      JournalState journal,
      Layout layout,
      Hypervisor hypervisor) {
    this(file, snapshot, journal, layout, hypervisor, DevicePlan.NONE, Map.of(), List.of());
  }

  /** On a host with other deployments. */
  public PlanInput beside(Map<String, JournalState> deployments) {
    return new PlanInput(
        file, snapshot, journal, layout, hypervisor, devices, deployments, choices);
  }

  PlanInput with(DevicePlan known) {
    return new PlanInput(file, snapshot, journal, layout, hypervisor, known, others, choices);
  }

  /** With GPUs in place of any. */
  PlanInput with(GpuPlacement.Placed placed) {
    return new PlanInput(
        placed.file(), snapshot, journal, layout, hypervisor, devices, others, placed.choices());
  }

  /** The steps that note which GPUs were chosen for a guest. */
  List<Step> chosen(Guest guest) {
    String name = guest.name().text();
    return choices.stream()
        .filter(choice -> choice.demand().guest().equals(name))
        .<Step>map(choice -> new ChooseGpu(name, choice.demand().number(), choice.gpu().name()))
        .toList();
  }

  Descriptor descriptor() {
    return file.descriptor();
  }
}
