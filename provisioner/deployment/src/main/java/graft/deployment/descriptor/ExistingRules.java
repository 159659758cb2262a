package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
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
  private static final List<String> NO_SETUP =
      List.of("way", "bundles", "group", "user-data", "ssh");

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
            switch (key) {
              case "bundles" -> "Graft could not take packages back: install them yourself";
              case "group" -> "make the group on the machine yourself";
              default -> "remove the key";
            });
      }
    }
    if (positions.has(guest.ready(), "when") || positions.has(guest.ready(), "text")) {
      problems.add(
          positions.of(guest, "ready"),
          "a guest that exists already is not started, so that there is nothing to wait for",
          "only 'timeout' and 'verify' can be written in 'ready'");
    }
    aloneOnItsMachine(guest);
    ownsNoGpu(guest);
    if (!guest.hasVgpu()) {
      problems.add(
          positions.of(guest, "existing"),
          "the guest '" + guest.name() + "' exists already and has no vgpu: there is nothing to do",
          "write vgpu: GPU");
    }
    for (VGpu vgpu : guest.vgpus()) {
      if (vgpu.gpu() != null
          && descriptor
              .gpu(vgpu.gpu())
              .filter(gpu -> gpu.owner().kind() == Owner.Kind.GUEST)
              .isPresent()) {
        problems.add(
            positions.of(vgpu),
            "the machine cannot reach the GPU '"
                + vgpu.gpu()
                + "', whose server is in a guest on a network of libvirt's",
            "use a GPU of this host or of a node");
      }
    }
  }

  /** A machine has one record of what it had, and one token. */
  private void aloneOnItsMachine(Guest guest) {
    Existing here = guest.existing().orElseThrow();
    for (Guest earlier : descriptor.guests()) {
      if (earlier.name().equals(guest.name())) {
        return;
      }
      if (earlier.existing().filter(there -> isSame(here, there)).isPresent()) {
        problems.add(
            positions.of(here, "ssh"),
            "the guest '" + earlier.name() + "' is the same machine",
            "write one guest for each machine");
        return;
      }
    }
  }

  private static boolean isSame(Existing one, Existing other) {
    return one.ssh().host().equals(other.ssh().host()) && one.port() == other.port();
  }

  private void ownsNoGpu(Guest guest) {
    for (Gpu gpu : descriptor.gpus()) {
      if (gpu.owner().kind() == Owner.Kind.GUEST && guest.name().equals(gpu.owner().name())) {
        problems.add(
            positions.of(gpu, "owner"),
            "a machine that exists already cannot own a GPU",
            "run graft serve there and declare it under nodes");
      }
    }
  }
}
