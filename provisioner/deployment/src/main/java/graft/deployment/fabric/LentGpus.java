package graft.deployment.fabric;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.PciAddress;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.gpu.GpuForContainer;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.state.DeviceClaims.Holder;
import graft.deployment.step.device.LendGpu;
import graft.sriov.host.NvidiaGpu;
import graft.sriov.host.PciDevice;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Plans GPUs for containers: a GPU stays bound to NVIDIA's driver, and belongs to one container.
 */
final class LentGpus {
  private final Descriptor descriptor;
  private final DeviceFacts facts;
  private final Path claims;
  private final List<String> notes;
  private final Problems problems;

  /**
   * A planner.
   *
   * @param claims the folder of all claims
   * @param notes gets remarks on GPUs
   */
  LentGpus(
      Descriptor descriptor,
      DeviceFacts facts,
      Path claims,
      List<String> notes,
      Problems problems) {
    this.descriptor = descriptor;
    this.facts = facts;
    this.claims = claims;
    this.notes = notes;
    this.problems = problems;
  }

  /**
   * The step that gives a container a device that is no network adapter, and so has to be a GPU.
   * What is in the way is a problem at {@code at}.
   */
  LendGpu lend(Holder container, PciAddress address, String what, Position at) {
    Optional<PciDevice> device = facts.host().pci().device(address);
    Optional<String> holder =
        facts.host().ledger().holder(address).filter(one -> !one.equals(container.toString()));
    if (device.isEmpty()) {
      problems.add(at, address + ": there is no such device", "look at lspci -D");
    } else if (!device.get().isNvidiaGpu()) {
      problems.add(
          at,
          address
              + " is neither a GPU of NVIDIA's nor a network adapter, and a container gets no other"
              + " device of the host",
          "leave it out");
    } else if (holder.isPresent()) {
      problems.add(at, address + " belongs to " + holder.get(), "give the container another GPU");
    } else if (!device.get().driver().equals(Optional.of(LendGpu.DRIVER))) {
      driver(device.get(), at);
    } else {
      served(address, at);
      files(address, at);
      List<String> uses = facts.host().uses().getOrDefault(address, List.of());
      if (!uses.isEmpty()) {
        notes.add(
            address + " is in use on the host as well, which goes on: " + String.join(", ", uses));
      }
    }
    return new LendGpu(container.guest(), container.deployment(), address, what + address, claims);
  }

  private void driver(PciDevice device, Position at) {
    String is = device.driver().map(driver -> "bound to " + driver).orElse("bound to no driver");
    problems.add(
        at,
        device.address() + " is " + is + ", and a container needs it bound to " + LendGpu.DRIVER,
        device.boundForPassthrough()
            ? "give it back to the host first: undo the deployment that passed it through"
            : "modprobe nvidia");
  }

  private void files(PciAddress address, Position at) {
    GpuForContainer needed = facts.forContainers().get(address);
    if (needed == null) {
      problems.add(
          at, address + " is unknown to NVIDIA's driver", "look at nvidia-smi, and load it again");
    } else if (!needed.problem().isEmpty()) {
      problems.add(at, address + ": " + needed.problem(), needed.hint());
    } else {
      notes.add(
          address
              + " for a container: "
              + String.join(", ", needed.nodes())
              + ", and "
              + needed.files().size()
              + " files read-only, by "
              + needed.from());
    }
  }

  /** A server of this descriptor would divide a GPU that the container uses without asking it. */
  private void served(PciAddress address, Position at) {
    List<PciAddress> order =
        facts.host().pci().gpus().stream()
            .map(NvidiaGpu::address)
            .sorted(Comparator.naturalOrder())
            .toList();
    for (Gpu gpu : descriptor.gpus()) {
      boolean same =
          gpu.owner().kind() == Owner.Kind.HOST
              && gpu.device().kind() == GpuDevice.Kind.CUDA
              && order.indexOf(address) == gpu.device().index().getAsInt();
      if (same && descriptor.guests().stream().anyMatch(one -> one.vgpu(gpu.name()).isPresent())) {
        problems.add(
            at,
            address + " is the GPU '" + gpu.name() + "', which a server of the host divides",
            "give the container a vgpu of it, or the server another GPU");
      }
    }
  }
}
