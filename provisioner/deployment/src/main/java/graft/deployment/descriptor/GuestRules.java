package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.BundleUse;
import graft.deployment.descriptor.guest.Disk;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.GuestVf;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.descriptor.guest.Passthrough;
import graft.deployment.descriptor.guest.Ready;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.descriptor.guest.SetupFile;
import graft.deployment.descriptor.guest.VGpu;
import graft.guests.bundle.GuestPaths;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Rules of guests. */
final class GuestRules {
  /** The minimum that boots a Linux kernel with an initramfs. */
  private static final MemorySize LEAST_MEMORY = MemorySize.ofMib(64);

  private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

  /** The type is the name of a folder in sysfs. */
  private static final String MDEV_TYPE = "[A-Za-z0-9][A-Za-z0-9_.-]{0,62}";

  /** The rings of one process, and some memory for it to pin. */
  private static final MemorySize LEAST_REGION = MemorySize.ofMib(16);

  /** The client's GRAFT_MOST_SERVERS. */
  private static final int MOST_VGPUS = 7;

  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;
  private final Map<Object, Position> claims;

  /** Rules that note claimed devices in {@code claims}. */
  GuestRules(
      Descriptor descriptor, Positions positions, Problems problems, Map<Object, Position> claims) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
    this.claims = claims;
  }

  void check(Guest guest) {
    boot(guest);
    if (guest.memory().compareTo(LEAST_MEMORY) < 0) {
      problems.add(
          positions.of(guest, "memory"),
          guest.memory() + " is too little memory for a guest",
          isCountOfMib(guest.memory())
              ? "a number alone is in bytes: did you mean '" + guest.memory().bytes() + "MiB'?"
              : "at least " + LEAST_MEMORY);
    }
    new MaximumRules(positions, problems).check(guest);
    if (guest.diskSize().isPresent() && guest.image().isEmpty()) {
      problems.add(
          positions.of(guest, "disk-size"),
          "'disk-size' is the size of the disk that a guest boots, and this one boots no image",
          "leave it out; the disks of 'disks' have a size each");
    }
    guest.disks().forEach(disk -> disk(guest, disk));
    guest.networks().forEach(nic -> nic(guest, nic));
    guest.vgpus().forEach(vgpu -> vgpu(guest, vgpu));
    vgpus(guest);
    guest.passthrough().forEach(device -> passthrough(guest, device));
    guest.vfs().forEach(this::vf);
    placement(guest);
    setup(guest.setup(), guest);
    ready(guest.ready());
  }

  /** Whether a size was probably written without its unit, as other tools have it. */
  private static boolean isCountOfMib(MemorySize size) {
    return size.bytes() >= LEAST_MEMORY.mib() && size.bytes() <= 1 << 16;
  }

  private void boot(Guest guest) {
    if (guest.existing().isPresent()) {
      new ExistingRules(descriptor, positions, problems).check(guest);
      return;
    }
    if (descriptor.hypervisor() == HypervisorChoice.LXC) {
      new ContainerRules(descriptor, positions, problems).check(guest);
    } else if (guest.root().isPresent()) {
      problems.add(
          positions.of(guest, "root"),
          "only a container has a root folder; a virtual machine boots an image or a kernel",
          "write hypervisor: lxc, or give it 'image' or 'kernel'");
    } else if (guest.image().isPresent() == guest.kernel().isPresent()) {
      problems.add(
          positions.of(guest),
          guest.image().isPresent()
              ? "a guest boots an image or a kernel, not both"
              : "the guest has nothing to boot",
          "give it 'image' or 'kernel', or 'existing' if it exists already");
    }
  }

  private void nic(Guest guest, Nic nic) {
    if (nic.network() == null) {
      return;
    }
    if (nic.isClosed() && !guest.hasVgpu()) {
      problems.add(
          positions.of(nic, "network"),
          "a closed network reaches the server of a vGPU, and the guest has no vGPU",
          "leave 'networks' out; the guest then has no network card");
    }
    if (nic.filter().isPresent() && !nic.isOnLibvirtNetwork()) {
      problems.add(
          positions.of(nic, "filter"),
          "'filter' is for cards on networks of libvirt's",
          "leave it out");
    }
  }

  private void disk(Guest guest, Disk disk) {
    if (disk.size().isPresent() == disk.source().isPresent()) {
      problems.add(positions.of(disk), "a disk has either 'size' or 'source'");
    }
    Stream<Name> same = guest.disks().stream().map(Disk::name).filter(n -> n != null);
    if (disk.name() != null && same.filter(n -> n.equals(disk.name())).count() > 1) {
      problems.add(
          positions.of(disk, "name"), "the guest has two disks named '" + disk.name() + "'");
    }
  }

  private void vgpu(Guest guest, VGpu vgpu) {
    new ChosenGpuRules(descriptor, positions, problems).check(vgpu);
    if (!vgpu.isAny()) {
      DescriptorRules.reference(
          positions.of(vgpu),
          "GPU",
          vgpu.gpu(),
          DescriptorRules.names(descriptor.gpus(), Gpu::name),
          problems);
    }
    Optional<Gpu> gpu = vgpu.gpu() == null ? Optional.empty() : descriptor.gpu(vgpu.gpu());
    if (gpu.isPresent() && owns(guest, gpu.get())) {
      problems.add(
          positions.of(vgpu),
          "the guest owns '" + vgpu.gpu() + "' and cannot have a vGPU of it too",
          "remove 'vgpu', or change the owner");
    }
    vgpu.region()
        .filter(size -> Long.bitCount(size.bytes()) != 1 || size.compareTo(LEAST_REGION) < 0)
        .ifPresent(
            size ->
                problems.add(
                    positions.of(vgpu, "region"),
                    size + " cannot be a region: a PCI device's memory is a power of two",
                    "at least " + LEAST_REGION + ", as 64MiB or 256MiB"));
    if (gpu.isPresent() && gpu.get().memory().isPresent() && vgpu.memory().isPresent()) {
      if (vgpu.memory().get().compareTo(gpu.get().memory().get()) > 0) {
        problems.add(
            positions.of(vgpu, "memory"),
            "the vGPU has more memory than its GPU (" + gpu.get().memory().get() + ")");
      }
    }
  }

  private void vgpus(Guest guest) {
    Set<Name> seen = new HashSet<>();
    for (VGpu vgpu : guest.vgpus()) {
      if (vgpu.gpu() != null && !vgpu.isAny() && !seen.add(vgpu.gpu())) {
        problems.add(
            positions.of(vgpu),
            "the guest has two vGPUs of '" + vgpu.gpu() + "'",
            "remove one: a program may use a device in several processes and threads");
      }
    }
    if (guest.vgpus().size() > MOST_VGPUS) {
      problems.add(
          positions.of(guest.vgpus().get(MOST_VGPUS)),
          "the guest has "
              + guest.vgpus().size()
              + " vGPUs, and its client uses "
              + MOST_VGPUS
              + " servers at most",
          "remove some, or give them to another guest");
    }
  }

  private static boolean owns(Guest guest, Gpu gpu) {
    return gpu.owner().kind() == Owner.Kind.GUEST && gpu.owner().name().equals(guest.name());
  }

  private void passthrough(Guest guest, Passthrough device) {
    long sources =
        Stream.of(device.gpu(), device.pci(), device.mig(), device.mdev())
            .filter(Optional::isPresent)
            .count();
    if (sources != 1) {
      problems.add(
          positions.of(device), "a passed-through device is exactly one of gpu, pci, mig, mdev");
    }
    device.pci().ifPresent(address -> claim(address, address, positions.of(device, "pci")));
    device.mig().ifPresent(uuid -> claim("mig " + uuid, uuid, positions.of(device, "mig")));
    device.mdev().ifPresent(uuid -> claim("mdev " + uuid, uuid, positions.of(device, "mdev")));
    device.gpu().ifPresent(name -> passedGpu(guest, name, positions.of(device, "gpu")));
    share(device);
  }

  /** An NVIDIA vGPU that Graft creates on a GPU or on a virtual function of a GPU. */
  private void share(Passthrough device) {
    boolean mediated = device.mdev().isPresent();
    if (mediated && !device.mdev().get().matches(UUID)) {
      problems.add(
          positions.of(device, "mdev"),
          "'" + device.mdev().get() + "' is not a UUID",
          "uuidgen makes one");
    }
    if (mediated && device.type().isPresent() && !device.type().get().matches(MDEV_TYPE)) {
      problems.add(
          positions.of(device, "type"),
          "'" + device.type().get() + "' is not the name of a type of mediated device",
          "such as nvidia-474");
    }
    if (mediated && device.of().isPresent() != device.type().isPresent()) {
      problems.add(
          positions.of(device),
          "a mediated device that is to be created needs both 'of' and 'type'",
          "ls /sys/bus/pci/devices/GPU/mdev_supported_types lists the types");
    }
    if (!mediated && device.of().isPresent()) {
      problems.add(positions.of(device, "of"), "'of' belongs to 'mdev'");
    }
    if (!mediated && device.type().isPresent()) {
      if (device.pci().isEmpty()) {
        problems.add(positions.of(device, "type"), "'type' belongs to 'mdev' or 'pci'");
      } else if (!device.type().get().matches("[1-9][0-9]{0,8}")) {
        problems.add(
            positions.of(device, "type"),
            "the NVIDIA vGPU type of a virtual function is a number, not '"
                + device.type().get()
                + "'",
            "its file nvidia/creatable_vgpu_types lists them");
      }
    }
  }

  private void passedGpu(Guest guest, Name name, Position at) {
    DescriptorRules.reference(
        at, "GPU", name, DescriptorRules.names(descriptor.gpus(), Gpu::name), problems);
    Optional<Gpu> gpu = descriptor.gpu(name);
    if (gpu.isPresent() && !owns(guest, gpu.get())) {
      problems.add(
          at,
          "'" + name + "' is owned by " + gpu.get().owner() + ", not by this guest",
          "write owner: guest:" + guest.name() + " at the GPU");
    }
  }

  private void claim(Object key, Object said, Position at) {
    Position before = claims.putIfAbsent(key, at);
    if (before != null) {
      problems.add(at, said + " is claimed already", "see " + before);
    }
  }

  private void vf(GuestVf vf) {
    List<Adapter> adapters = descriptor.fabric().map(Fabric::adapters).orElse(List.of());
    DescriptorRules.reference(
        positions.of(vf, "adapter"),
        "adapter",
        vf.adapter(),
        DescriptorRules.names(adapters, Adapter::name),
        problems);
    for (Adapter adapter : adapters) {
      if (adapter.name() == null || !adapter.name().equals(vf.adapter())) {
        continue;
      }
      if (vf.index().isPresent()) {
        Position at = positions.of(vf, "index");
        if (vf.index().get() >= adapter.count()) {
          problems.add(
              at,
              "there is no virtual function "
                  + vf.index().get()
                  + ": '"
                  + adapter.name()
                  + "' has "
                  + adapter.count(),
              "raise 'vfs' of the adapter");
        }
        String said = "virtual function " + vf.index().get() + " of '" + adapter.name() + "'";
        claim(said, said, at);
      }
    }
  }

  private void placement(Guest guest) {
    List<Integer> pin = guest.placement().pin();
    Position at = positions.of(guest.placement(), "pin");
    if (!pin.isEmpty() && pin.size() != guest.cpus()) {
      problems.add(
          at,
          "'pin' names " + pin.size() + " CPUs of the host for " + guest.cpus() + " of the guest");
    }
    if (pin.stream().anyMatch(cpu -> cpu < 0)) {
      problems.add(at, "CPU numbers are not negative");
    }
  }

  private void setup(Setup setup, Guest guest) {
    boolean kernel = guest.kernel().isPresent();
    if (setup.way() == Setup.Method.INITRAMFS
        && (!kernel || guest.kernel().get().initramfs().isEmpty())) {
      problems.add(positions.of(setup, "way"), "the guest boots no initramfs");
    }
    if (setup.way() == Setup.Method.SEED && kernel) {
      problems.add(
          positions.of(setup, "way"),
          "a guest that boots a kernel directly has no cloud-init to read a seed",
          "use way: initramfs");
    }
    if (setup.way() == Setup.Method.SSH && setup.ssh().isEmpty()) {
      problems.add(positions.of(setup, "way"), "the install method ssh needs the key 'ssh'");
    }
    for (BundleUse use : setup.bundles()) {
      if (use.set().stream().anyMatch(setting -> !setting.matches("[a-z0-9-]+=.*"))) {
        problems.add(positions.of(use, "set"), "a setting is written NAME=VALUE");
      }
    }
    Set<String> paths = new HashSet<>();
    for (SetupFile file : setup.files()) {
      if (file.path() == null) {
        continue;
      }
      Position at = positions.of(file, "path");
      if (!GuestPaths.isFile(file.path())) {
        problems.add(at, "'" + file.path() + "' is not an absolute path of a file");
      }
      if (!paths.add(file.path())) {
        problems.add(at, "two files have the path " + file.path());
      }
    }
  }

  private void ready(Ready ready) {
    if ((ready.when() == Ready.When.CONSOLE) != ready.text().isPresent()) {
      problems.add(positions.of(ready), "'text' belongs to when: console, and to no other value");
    }
    if (ready.text().isPresent() && ready.text().get().isEmpty()) {
      problems.add(positions.of(ready, "text"), "the text is empty");
    }
  }
}
