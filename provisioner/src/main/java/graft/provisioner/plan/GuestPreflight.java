package graft.provisioner.plan;

import graft.hypervisors.libvirt.UnsupportedFeatureException;
import graft.provisioner.bind.Position;
import graft.provisioner.bind.Positions;
import graft.provisioner.bind.Problems;
import graft.provisioner.descriptor.Disk;
import graft.provisioner.descriptor.Guest;
import graft.provisioner.descriptor.Kernel;
import graft.provisioner.descriptor.Nic;
import graft.provisioner.descriptor.Ready;
import graft.provisioner.descriptor.Setup;
import graft.provisioner.descriptor.SetupFile;
import graft.provisioner.fabric.GuestDevices;
import graft.provisioner.observe.FileFacts;
import graft.provisioner.observe.FileStamp;
import graft.provisioner.observe.GuestFacts;
import graft.provisioner.step.guest.VerifyCuda;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds everything on the host that is in the way of a guest. */
final class GuestPreflight {
  private static final List<String> CLIENT = List.of("libcuda.so.1", "libnvidia-ml.so.1");

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
    client(guest);
    if (input.snapshot().libvirt().answers()) {
      for (Nic nic : guest.networks()) {
        if (!nic.isUser()) {
          Preflight.networkExists(
              input, nic.network().text(), positions.of(nic, "network"), problems);
        }
      }
      new GuestChannels(input, guest).check(problems);
      features(guest);
    }
  }

  /** A guest of the same name that is not ours stays as it is. */
  private void foreign(Guest guest) {
    Optional<GuestFacts> there = input.snapshot().libvirt().guest(guest.name().text());
    String setup = input.descriptor().setupName().text();
    if (there.isPresent()
        && !there.get().uuid().equals(Identities.uuid(setup, guest.name().text()))) {
      String whose =
          there.get().deployment().isEmpty()
              ? "that Graft did not make"
              : "of the set-up '" + there.get().deployment() + "'";
      problems.add(
          positions.of(guest, "name"),
          "libvirt has a guest '" + guest.name() + "' " + whose,
          "choose another name");
    }
  }

  private void files(Guest guest) {
    guest
        .image()
        .ifPresent(
            image -> {
              Position at = positions.of(guest, "image");
              if (file(image, at, "the image")) {
                reachable(image, at);
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
      problems.add(at, what + " is missing: there is no file " + path);
    } else if (!facts.get().readable()) {
      problems.add(at, what + " cannot be read: " + path, "change its permissions, or be root");
    }
    return facts.isPresent();
  }

  /** A libvirt of root's runs guests as a user of its own. */
  private void reachable(String named, Position at) {
    Path path = input.file().resolve(named);
    if (input.snapshot().host().root() && !input.snapshot().file(path).orElseThrow().reachable()) {
      problems.add(
          at,
          "the hypervisor's user cannot get at " + path + ": a folder above it is private",
          "move it, for example to /var/lib/libvirt/images");
    }
  }

  private void client(Guest guest) {
    if (guest.vgpu().isEmpty()) {
      return;
    }
    Position at = positions.of(guest, "vgpu");
    Setup.Way way = GuestSteps.way(guest);
    if (way == Setup.Way.NONE) {
      if (guest.setup().way() == Setup.Way.AUTO) {
        problems.add(
            at,
            "there is no way to put the client into a guest that boots a kernel alone",
            "give it an initramfs");
      }
      return;
    }
    List<String> there =
        input.snapshot().clientFiles().stream()
            .map(FileStamp::path)
            .map(p -> p.getFileName().toString())
            .toList();
    for (String name : CLIENT) {
      if (!there.contains(name)) {
        problems.add(at, "the client is not built: " + name + " is missing", "run ./graft build");
        return;
      }
    }
    boolean verify = guest.ready().verify() && guest.ready().when() != Ready.When.OFF;
    if (verify && !there.contains(VerifyCuda.PROGRAM)) {
      problems.add(
          at,
          "the check program " + VerifyCuda.PROGRAM + " is not built",
          "run ./graft build, or write ready: {verify: false}");
    }
  }

  private void features(Guest guest) {
    try {
      var capabilities = input.snapshot().libvirt().capabilities().orElseThrow();
      if (input.hypervisor().accepts(capabilities)) {
        input
            .hypervisor()
            .domainXml(GuestDomain.spec(input, guest, GuestDevices.NONE), capabilities);
      }
    } catch (UnsupportedFeatureException e) {
      problems.add(positions.of(guest), e.getMessage());
    }
  }
}
