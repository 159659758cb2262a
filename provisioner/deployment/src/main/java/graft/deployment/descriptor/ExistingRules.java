package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Passthrough;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.descriptor.guest.Ssh;
import graft.deployment.descriptor.guest.SshTarget;
import graft.deployment.descriptor.guest.VGpu;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

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
          "max-cpus",
          "memory",
          "max-memory",
          "placement",
          "disk-size",
          "disks",
          "networks",
          "firmware",
          "virtualization",
          "hide-hypervisor");

  /** What is attached to domains, and not to a machine that only SSH reaches. */
  private static final List<String> DEVICES = List.of("passthrough", "vfs");

  /** The keys of a set-up that Graft could not take back on the machine, or that have no use. */
  private static final List<String> NO_SETUP = List.of("bundles", "group", "user-data");

  /** The keys of a set-up that choose how a domain is reached. */
  private static final List<String> WAY = List.of("way", "ssh");

  private static final Set<Setup.Method> WAYS =
      Set.of(Setup.Method.AUTO, Setup.Method.AGENT, Setup.Method.SSH);

  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  ExistingRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  void check(Guest guest) {
    Existing existing = guest.existing().orElseThrow();
    if (positions.has(existing, "ssh") == positions.has(existing, "domain")) {
      problems.add(
          positions.of(guest, "existing"),
          "a guest that exists already is reached by exactly one of 'ssh' and 'domain'",
          "write ssh: USER@HOST, or domain: NAME for a domain of this host's libvirt");
      return;
    }
    if (existing.ssh().isEmpty() && existing.domain().isEmpty()) {
      return; // it has another form, and that is reported
    }
    boolean isDomain = existing.domain().isPresent();
    for (String key : isDomain ? NOT_OURS : both(NOT_OURS, DEVICES)) {
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
    for (String key : isDomain ? NO_SETUP : both(NO_SETUP, WAY)) {
      if (positions.has(guest.setup(), key)) {
        problems.add(
            positions.of(guest.setup(), key),
            "a guest that exists already gets its client "
                + (isDomain ? "while it runs" : "by SSH")
                + " and has no '"
                + key
                + "'",
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
    if (isDomain) {
      domain(guest, existing);
    }
    aloneOnItsMachine(guest);
    ownsNoGpu(guest);
    if (!guest.hasVgpu() && !guest.hasDevices()) {
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

  private static List<String> both(List<String> some, List<String> more) {
    return Stream.concat(some.stream(), more.stream()).toList();
  }

  private void domain(Guest guest, Existing existing) {
    for (String key : List.of("port", "key")) {
      if (positions.has(existing, key)) {
        problems.add(
            positions.of(existing, key),
            "'" + key + "' belongs to 'ssh' of a guest that exists already",
            "write setup: {ssh: {" + key + ": ...}} for a domain");
      }
    }
    Setup.Method way = guest.setup().way();
    if (!WAYS.contains(way)) {
      problems.add(
          positions.of(guest.setup(), "way"),
          "a domain that exists already gets its client by its agent or by SSH",
          "leave 'way' out, or write agent or ssh");
    }
    if (way == Setup.Method.SSH && guest.setup().ssh().flatMap(Ssh::address).isEmpty()) {
      problems.add(
          positions.of(guest.setup(), "way"),
          "the way ssh to a domain that exists already needs its address",
          "write setup: {ssh: {address: ADDRESS}}; its host key has to be known before");
    }
    for (Passthrough device : guest.passthrough()) {
      if (device.permissive()) {
        problems.add(
            positions.of(device, "permissive"),
            "'permissive' is for guests of Xen, and a domain that exists already is one of QEMU",
            "leave it out");
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
            positions.of(here, here.ssh().isPresent() ? "ssh" : "domain"),
            "the guest '" + earlier.name() + "' is the same machine",
            "write one guest for each machine");
        return;
      }
    }
  }

  private static boolean isSame(Existing one, Existing other) {
    if (one.domain().isPresent() != other.domain().isPresent()) {
      return false;
    }
    return one.domain().isPresent()
        ? one.domain().equals(other.domain())
        : one.ssh().map(SshTarget::host).equals(other.ssh().map(SshTarget::host))
            && one.port() == other.port();
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
