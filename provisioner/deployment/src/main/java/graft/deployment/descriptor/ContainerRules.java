package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Passthrough;
import graft.deployment.descriptor.guest.Setup;
import graft.guests.image.ImageName;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.util.List;
import java.util.Set;

/** Rules of containers: what a virtual machine can have and they cannot is refused by its key. */
final class ContainerRules {
  private static final String OWN_KERNEL = "a container runs the host's kernel";

  /** What installs something in a container: its namespaces, or SSH. */
  private static final Set<Setup.Method> WAYS =
      Set.of(Setup.Method.AUTO, Setup.Method.AGENT, Setup.Method.SSH, Setup.Method.NONE);

  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  ContainerRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  void check(Guest guest) {
    if (guest.kernel().isPresent()) {
      problems.add(
          positions.of(guest, "kernel"),
          OWN_KERNEL + ", and boots no kernel and no initramfs",
          "write root: and the initramfs, whose files then are its root folder");
    } else if (guest.image().isPresent()) {
      problems.add(
          positions.of(guest, "image"),
          "a container has no disks: the host's kernel would have to trust a file system that the"
              + " container writes",
          ImageName.of(guest.image().get())
              .map(name -> "graft image build --container " + name + ", and write root: " + name)
              .orElse(
                  "write root: and a folder or a tar archive with the image's files, as"
                      + " virt-tar-out(1) takes them out of a disk"));
    } else if (guest.root().isEmpty()) {
      problems.add(
          positions.of(guest),
          "the container has no root folder",
          "give it 'root': debian:12, a folder, a tar archive, or an initramfs");
    }
    disks(guest);
    machine(guest);
    devices(guest);
    setup(guest);
  }

  private void disks(Guest guest) {
    if (!guest.disks().isEmpty()) {
      problems.add(
          positions.of(guest, "disks"),
          "a container has no disks; what it writes is in its root folder",
          "leave 'disks' out");
    }
  }

  private void machine(Guest guest) {
    if (guest.firmware() == Guest.Firmware.UEFI) {
      problems.add(
          positions.of(guest, "firmware"), OWN_KERNEL + ", and has no firmware", "leave it out");
    }
    if (guest.virtualization().filter(kind -> kind != Virtualization.CONTAINER).isPresent()) {
      problems.add(
          positions.of(guest, "virtualization"), "a container is not virtualized", "leave it out");
    }
    if (guest.hideHypervisor()) {
      problems.add(
          positions.of(guest, "hide-hypervisor"),
          "a container has no hypervisor that could be hidden",
          "leave it out");
    }
    if (guest.placement().hugePages().isPresent() || guest.placement().locked()) {
      String key = guest.placement().locked() ? "locked" : "huge-pages";
      problems.add(
          positions.of(guest.placement(), key),
          "a container's memory is that of processes of the host, which Graft can neither lock nor"
              + " put into huge pages",
          "leave it out; memory and numa are limited by its cgroup");
    }
  }

  /** A device stays bound to its driver of the host; what only vfio can give is refused. */
  private void devices(Guest guest) {
    for (Passthrough device : guest.passthrough()) {
      if (device.mdev().isPresent() || device.mig().isPresent() || device.type().isPresent()) {
        problems.add(
            positions.of(device),
            "a container gets whole GPUs: NVIDIA vGPUs are for virtual machines, and Graft gives no"
                + " container a MIG instance of its own",
            "write vgpu: a server of the host divides a GPU, or serves a MIG instance");
      }
    }
    List<Gpu> owned =
        descriptor.gpus().stream()
            .filter(gpu -> gpu.owner().kind() == Owner.Kind.GUEST)
            .filter(gpu -> guest.name() != null && guest.name().equals(gpu.owner().name()))
            .toList();
    for (Gpu gpu : owned) {
      if (descriptor.guests().stream().anyMatch(other -> other.vgpu(gpu.name()).isPresent())) {
        problems.add(
            positions.of(gpu, "owner"),
            "a container serves its GPU to no other guest: it runs on the host that could serve it",
            "write owner: host, and give the container a vgpu, too");
      }
    }
    if (guest.hasVgpu() && !(owned.isEmpty() && guest.passthrough().isEmpty())) {
      problems.add(
          positions.of(guest, "vgpu"),
          "a container has either a GPU of its own or a vgpu: each brings a libcuda.so.1",
          "leave one out");
    }
  }

  private void setup(Guest guest) {
    if (!WAYS.contains(guest.setup().way())) {
      problems.add(
          positions.of(guest.setup(), "way"),
          "a container boots neither an image nor an initramfs that could bring anything",
          "leave it out: Graft installs in the running container");
    }
    if (guest.setup().userData().isPresent()) {
      problems.add(
          positions.of(guest.setup(), "user-data"),
          "a container has no disk with a seed for cloud-init",
          "write setup: {files: ...}");
    }
    if (guest.setup().group().isPresent() && guest.hasVgpu()) {
      problems.add(
          positions.of(guest.setup(), "group"),
          "the socket of the server is for the container's root alone",
          "leave it out");
    }
  }
}
