package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.guest.Disk;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Kernel;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.descriptor.guest.Passthrough;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.descriptor.guest.SetupFile;
import graft.deployment.fabric.GuestDevices;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.GuestFacts;
import graft.guests.image.ImageName;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.UnsupportedFeatureException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/** Finds everything on the host that is in the way of a guest. */
final class GuestPreflight {
  private final PlanInput input;
  private final Positions positions;
  private final Problems problems;

  GuestPreflight(PlanInput input, Problems problems) {
    this.input = input;
    this.positions = input.file().positions();
    this.problems = problems;
  }

  void check(Guest guest) {
    foreign(guest);
    files(guest);
    setup(guest);
    if (input.snapshot().libvirt().answers()) {
      for (Nic nic : guest.networks()) {
        if (nic.isOnLibvirtNetwork()) {
          Preflight.networkExists(
              input, nic.network().text(), positions.of(nic, "network"), problems);
        }
      }
      new GuestCards(input, guest).check(problems);
      GuestChannels.of(input, guest).forEach(channels -> channels.check(problems));
      new GuestLogin(input, guest).check(positions.of(guest, "setup"), problems);
      features(guest);
      devices(guest);
    }
  }

  /** Devices are no part of the domain that the hypervisor checks: they are attached to it. */
  private void devices(Guest guest) {
    Set<GuestFeature> features = GuestDomain.features(input, guest);
    var host = input.snapshot().libvirt().capabilities().orElseThrow();
    String why =
        input.hypervisor().why(GuestFeature.PCI_PASSTHROUGH, host, GuestDomain.kind(input, guest));
    boolean passed = guest.hasDevices() && guest.root().isEmpty();
    if (passed && !features.contains(GuestFeature.PCI_PASSTHROUGH) && !why.isEmpty()) {
      problems.add(
          positions.of(guest),
          "the guest '" + guest.name() + "' cannot have devices of the host: " + why);
    }
    for (Passthrough device : guest.passthrough()) {
      if (device.permissive() && !features.contains(GuestFeature.FILTERED_DEVICES)) {
        problems.add(
            positions.of(device, "permissive"),
            input.hypervisor().name() + " filters no device's configuration space",
            "leave it out");
      }
    }
  }

  /** A guest of the same name that is not ours stays as it is. */
  private void foreign(Guest guest) {
    Optional<GuestFacts> there = input.snapshot().libvirt().guest(guest.name().text());
    String setup = input.descriptor().deploymentName().text();
    if (there.isPresent()
        && !there.get().uuid().equals(Identities.uuid(setup, guest.name().text()))) {
      String whose =
          there.get().deployment().isEmpty()
              ? "that Graft did not make"
              : "of the deployment '" + there.get().deployment() + "'";
      problems.add(
          positions.of(guest, "name"),
          "libvirt has a guest '" + guest.name() + "' " + whose,
          "choose another name");
    }
  }

  private void files(Guest guest) {
    if (guest.root().isPresent()) {
      new GuestContainer(input, guest).check(problems);
    }
    guest
        .image()
        .ifPresent(
            image -> {
              Position at = positions.of(guest, "image");
              if (file(image, at, "the image")) {
                reachable(image, at);
                size(guest, image);
              }
            });
    if (guest.kernel().isPresent()) {
      Kernel kernel = guest.kernel().get();
      file(kernel.image(), positions.of(kernel, "image"), "the kernel");
      kernel
          .initramfs()
          .ifPresent(name -> file(name, positions.of(kernel, "initramfs"), "the initramfs"));
    }
    for (Disk disk : guest.disks()) {
      disk.source()
          .ifPresent(
              source -> {
                Position at = positions.of(disk, "source");
                if (file(source, at, "the disk image")) {
                  reachable(source, at);
                }
              });
    }
    for (SetupFile given : guest.setup().files()) {
      file(given.source(), positions.of(given, "source"), "the file");
    }
    guest
        .setup()
        .userData()
        .ifPresent(data -> file(data, positions.of(guest.setup(), "user-data"), "the user data"));
  }

  private boolean file(String named, Position at, String what) {
    Path path = input.file().resolve(named);
    Optional<FileFacts> facts = input.snapshot().file(path);
    if (facts.isEmpty()) {
      boolean kept = ImageName.of(named).isPresent();
      problems.add(
          at,
          what + " is missing: there is no file " + path,
          kept ? "graft image build " + named + ", or graft image import" : "");
    } else if (!facts.get().readable()) {
      problems.add(at, what + " cannot be read: " + path, "change its permissions, or be root");
    }
    return facts.isPresent();
  }

  /** A disk that is smaller than its image would be cut off. */
  private void size(Guest guest, String image) {
    long least = input.snapshot().file(input.file().resolve(image)).orElseThrow().diskSize();
    if (guest.diskSize().filter(size -> size.bytes() < least).isPresent()) {
      problems.add(
          positions.of(guest, "disk-size"),
          "a disk of "
              + guest.diskSize().get()
              + " is smaller than its image, which has "
              + new MemorySize(least),
          "write at least that, or leave it out");
    }
  }

  /** A libvirt of root's runs guests as a user of its own. */
  private void reachable(String named, Position at) {
    Path path = input.file().resolve(named);
    if (input.snapshot().host().root() && !input.snapshot().file(path).orElseThrow().reachable()) {
      problems.add(
          at,
          "the hypervisor's user cannot read " + path + ": a folder above it is private",
          "move it, for example to /var/lib/libvirt/images");
    }
  }

  private void setup(Guest guest) {
    Position at = positions.of(guest, guest.hasVgpu() ? "vgpu" : "setup");
    ServerSteps servers = new ServerSteps(input);
    GuestBundles bundles = new GuestBundles(input, servers, guest);
    Setup.Method method = InstallMethodChoice.of(input, guest).method();
    if (method == Setup.Method.NONE) {
      if (guest.setup().way() == Setup.Method.AUTO && bundles.any()) {
        problems.add(
            at,
            "there is no way to put the client into a guest that boots a kernel alone",
            "give it an initramfs, or write setup: {way: agent}");
      }
      return;
    }
    Problems found = new Problems();
    bundles.check(found);
    found.sorted().forEach(p -> problems.add(p.position(), p.message(), p.hint()));
    boolean filesThere =
        guest.setup().files().stream()
            .allMatch(given -> input.snapshot().exists(input.file().resolve(given.source())));
    if (found.isEmpty() && filesThere) {
      new GuestSteps(input, servers, guest, GuestDevices.NONE)
          .installMethod()
          .check(bundles.payload(), at, problems);
    }
    neighbours(guest);
  }

  /** A server in a guest is reached over a network of libvirt's that both are on. */
  private void neighbours(Guest guest) {
    for (Gpu gpu : GuestBundles.owned(input, guest)) {
      for (Guest user : input.descriptor().guests()) {
        boolean uses = user.vgpu(gpu.name()).isPresent();
        if (uses && (shared(guest).isEmpty() || !shared(user).equals(shared(guest)))) {
          problems.add(
              positions.of(user.vgpu(gpu.name()).orElseThrow()),
              "'"
                  + user.name()
                  + "' cannot reach '"
                  + guest.name()
                  + "', which owns '"
                  + gpu.name()
                  + "'",
              "let the first network of both be the same one of libvirt's, with DHCP");
        }
      }
    }
  }

  /** The first network of a guest; empty for one where guests do not see each other. */
  private Optional<Name> shared(Guest guest) {
    return new GuestCards(input, guest).first().filter(Nic::isOnLibvirtNetwork).map(Nic::network);
  }

  private void features(Guest guest) {
    try {
      var capabilities = input.snapshot().libvirt().capabilities().orElseThrow();
      boolean root = guest.root().isEmpty() || GuestContainer.isWanted(input);
      if (root && input.hypervisor().accepts(capabilities)) {
        input.hypervisor().check(GuestDomain.spec(input, guest, GuestDevices.NONE), capabilities);
      }
    } catch (UnsupportedFeatureException e) {
      problems.add(positions.of(guest), e.getMessage());
    }
  }
}
