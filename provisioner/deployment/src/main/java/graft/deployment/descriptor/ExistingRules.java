package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Guest;
import java.util.List;

/**
 * Rules of guests that exist already: Graft changes nothing of them that it could not give back.
 */
final class ExistingRules {
  /** What only whoever made the guest may change. */
  private static final List<String> NOT_OURS =
      List.of(
          "image",
          "kernel",
          "root",
          "cpus",
          "memory",
          "placement",
          "disks",
          "networks",
          "passthrough",
          "vfs",
          "firmware",
          "virtualization",
          "hide-hypervisor");

  /** The keys of a set-up that Graft could not take back on the machine, or that have no use. */
  private static final List<String> NO_SETUP = List.of("way", "bundles", "user-data", "ssh");

  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  ExistingRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  void check(Guest guest) {
    for (String key : NOT_OURS) {
      if (positions.has(guest, key)) {
        problems.add(
            positions.of(guest, key),
            "Graft did not make the guest '"
                + guest.name()
                + "', and cannot change its '"
                + key
                + "'",
            "remove the key; change the machine where it was made");
      }
    }
    for (String key : NO_SETUP) {
      if (positions.has(guest.setup(), key)) {
        problems.add(
            positions.of(guest.setup(), key),
            "a guest that exists already gets its client by SSH and has no '" + key + "'",
            key.equals("bundles")
                ? "Graft could not take packages back: install them yourself"
                : "remove the key");
      }
    }
    if (positions.has(guest.ready(), "when") || positions.has(guest.ready(), "text")) {
      problems.add(
          positions.of(guest, "ready"),
          "a guest that exists already is not started, so that there is nothing to wait for",
          "only 'timeout' and 'verify' can be written in 'ready'");
    }
    if (guest.vgpu().isEmpty()) {
      problems.add(
          positions.of(guest, "existing"),
          "the guest '" + guest.name() + "' exists already and has no vgpu: there is nothing to do",
          "write vgpu: GPU");
    }
    guest
        .vgpu()
        .flatMap(
            vgpu -> vgpu.gpu() == null ? java.util.Optional.empty() : descriptor.gpu(vgpu.gpu()))
        .filter(gpu -> gpu.owner().kind() == Owner.Kind.GUEST)
        .ifPresent(
            gpu ->
                problems.add(
                    positions.of(guest, "vgpu"),
                    "the machine cannot reach the GPU '"
                        + gpu.name()
                        + "', whose server is in a guest on a network of libvirt's",
                    "use a GPU of this host or of a node"));
  }
}
