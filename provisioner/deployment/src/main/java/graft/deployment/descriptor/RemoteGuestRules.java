package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Channel;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.descriptor.hosts.RemoteGuest;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Rules of guests of other hosts, and of the tokens that guests bring of their own. */
final class RemoteGuestRules {
  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  RemoteGuestRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  void check() {
    Set<Object> seen = new HashSet<>();
    descriptor.guests().forEach(guest -> guest.vgpus().forEach(vgpu -> own(guest, vgpu)));
    for (RemoteGuest remote : descriptor.remoteGuests()) {
      if (remote.vgpu() == null || remote.vgpu().gpu() == null || remote.name() == null) {
        continue; // it has a problem already
      }
      VGpu vgpu = remote.vgpu();
      Optional<Gpu> gpu = descriptor.gpu(vgpu.gpu());
      if (gpu.isEmpty()) {
        DescriptorRules.reference(
            positions.of(vgpu),
            "GPU",
            vgpu.gpu(),
            DescriptorRules.names(descriptor.gpus(), Gpu::name),
            problems);
      } else if (gpu.get().owner() != null && gpu.get().owner().kind() != Owner.Kind.HOST) {
        problems.add(
            positions.of(vgpu),
            "the GPU '" + vgpu.gpu() + "' is not owned by the host, which cannot serve it",
            "name a GPU with owner: host");
      }
      if (!Set.of(Channel.AUTO, Channel.TCP, Channel.RDMA).contains(vgpu.channel())) {
        problems.add(
            positions.of(vgpu, "channel"),
            "a guest of another host reaches the GPU over the network alone",
            "leave 'channel' out");
      }
      boolean isGuest = descriptor.guest(remote.name()).isPresent();
      if (isGuest || !seen.add(remote.name() + " " + vgpu.gpu())) {
        problems.add(
            positions.of(remote, "name"),
            isGuest
                ? "a guest of this host has the name '" + remote.name() + "'"
                : "'" + remote.name() + "' has the GPU '" + vgpu.gpu() + "' already",
            "choose another name");
      }
    }
  }

  private void own(Guest guest, VGpu vgpu) {
    if (vgpu.tokenFile().isPresent()
        && vgpu.gpu() != null
        && descriptor
            .gpu(vgpu.gpu())
            .filter(gpu -> gpu.owner() == null || gpu.owner().kind() == Owner.Kind.NODE)
            .isEmpty()) {
      problems.add(
          positions.of(vgpu, "token-file"),
          "the guest '" + guest.name() + "' gets a token for a GPU of this host by apply",
          "leave 'token-file' out; it is for the GPU of a node");
    }
  }
}
