package graft.deployment.plan;

import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.guest.Disk;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Placement;
import graft.deployment.fabric.GuestDevices;
import graft.deployment.fabric.Place;
import graft.deployment.gpu.GpuForContainer;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.MemoryBacking;
import graft.hypervisors.libvirt.domain.NumaTune;
import graft.hypervisors.libvirt.domain.SerialSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Translates a guest of the descriptor into a domain of the hypervisor. */
final class GuestDomain {
  private static final String NO_TIMER_CHECK = "no_timer_check";
  private static final String XEN_CONSOLE = "console=hvc0";

  /** The number of free slots for devices that are attached while the guest runs. */
  private static final int SPARE_SLOTS = 8;

  /** The same for emulated guests, whose boot takes 0.1 s longer for each. */
  private static final int FEW_SPARE_SLOTS = 2;

  private GuestDomain() {}

  /**
   * The domain, without the devices of the host: those are attached afterwards, each by its own
   * step.
   */
  static DomainSpec spec(PlanInput input, Guest guest, GuestDevices devices) {
    String deployment = input.descriptor().deploymentName().text();
    String name = guest.name().text();
    DomainSpec.Builder spec =
        DomainSpec.named(name)
            .uuid(Identities.uuid(deployment, name))
            .cpus(guest.maxCpus().orElse(guest.cpus()))
            .memory(guest.memory())
            .virtualization(kind(input, guest))
            .hideHypervisor(guest.hideHypervisor())
            .metadata(GuestMetadata.of(deployment));
    guest.maxMemory().ifPresent(spec::maxMemory);
    Set<GuestFeature> features = features(input, guest);
    if (features.contains(GuestFeature.CONSOLE_LOG) && daemonsLog(input, guest).isEmpty()) {
      spec.serial(new SerialSpec(input.layout().console(guest.name()).toString()));
    }
    if (features.contains(GuestFeature.GUEST_AGENT)) {
      spec.channel(ChannelSpec.GUEST_AGENT);
    }
    boot(input, guest, devices, spec);
    place(guest, devices.place(), features, spec);
    spec.pciWindow(devices.pciWindow());
    if (features.contains(GuestFeature.HOT_PLUG)) {
      boolean emulated = !features.contains(GuestFeature.HARDWARE_ACCELERATION);
      boolean few = emulated && !features.contains(GuestFeature.PCI_PASSTHROUGH);
      spec.spareSlots(few ? FEW_SPARE_SLOTS : SPARE_SLOTS);
    } else if (features.contains(GuestFeature.PCI_PASSTHROUGH)) {
      spec.spareSlots(SPARE_SLOTS);
    }
    GuestChannels.of(input, guest).forEach(channels -> channels.addTo(spec));
    new GuestCards(input, guest).specs().forEach(spec::networkInterface);
    return spec.build();
  }

  /** What the hypervisor can do for this guest. */
  static Set<GuestFeature> features(PlanInput input, Guest guest) {
    return input.hypervisor().features(host(input), kind(input, guest));
  }

  /**
   * Whether the guest is reached without a network: the hypervisor has a channel to an agent in it,
   * or it is a container, whose namespaces are the host's to enter. Assumed as long as libvirt did
   * not answer.
   */
  static boolean hasAgent(PlanInput input, Guest guest) {
    return input.snapshot().libvirt().capabilities().isEmpty()
        || guest.root().isPresent()
        || features(input, guest).contains(GuestFeature.GUEST_AGENT);
  }

  /** The virtualization type. */
  static Virtualization kind(PlanInput input, Guest guest) {
    return guest
        .virtualization()
        .orElseGet(
            () ->
                input
                    .hypervisor()
                    .kind(host(input), guest.kernel().isPresent(), guest.hasDevices()));
  }

  private static HostCapabilities host(PlanInput input) {
    return input.snapshot().libvirt().capabilities().orElseThrow();
  }

  private static Optional<Path> daemonsLog(PlanInput input, Guest guest) {
    return input.hypervisor().consoleLog(host(input), kind(input, guest), guest.name().text());
  }

  /** The file of its console log. */
  static Path console(PlanInput input, Guest guest) {
    return daemonsLog(input, guest).orElseGet(() -> input.layout().console(guest.name()));
  }

  private static void place(
      Guest guest, Place place, Set<GuestFeature> features, DomainSpec.Builder spec) {
    Placement asked = guest.placement();
    if (asked.hugePages().isPresent() || asked.locked()) {
      spec.memoryBacking(new MemoryBacking(asked.hugePages(), asked.locked(), false));
    }
    NumaTune.Mode mode = place.strict() ? NumaTune.Mode.STRICT : NumaTune.Mode.PREFERRED;
    // Where memory cannot be placed it still follows the pinned CPUs, unless it must.
    if (features.contains(GuestFeature.NUMA_TUNING) || place.strict()) {
      place.node().ifPresent(node -> spec.numaTune(new NumaTune(CpuSet.of(node), mode)));
    }
    TreeMap<Integer, CpuSet> pins = new TreeMap<>();
    for (int cpu = 0; cpu < guest.maxCpus().orElse(guest.cpus()); cpu++) {
      if (!place.pins().isEmpty()) {
        pins.put(cpu, CpuSet.of(place.pins().get(cpu)));
      } else if (!place.cpus().isEmpty()) {
        pins.put(cpu, CpuSet.of(place.cpus()));
      }
    }
    if (!pins.isEmpty()) {
      Optional<CpuSet> emulator =
          place.cpus().isEmpty() ? Optional.empty() : Optional.of(CpuSet.of(place.cpus()));
      spec.cpuTune(new CpuTune(pins, emulator));
    }
  }

  private static void boot(
      PlanInput input, Guest guest, GuestDevices devices, DomainSpec.Builder spec) {
    Path folder = input.layout().guest(guest.name());
    if (guest.root().isPresent()) {
      GuestContainer container = new GuestContainer(input, guest);
      List<GpuForContainer> gpus = container.gpus(devices);
      spec.boot(container.boot(gpus));
      gpus.stream()
          .flatMap(gpu -> gpu.nodes().stream())
          .distinct()
          .forEach(node -> spec.hostdev(new HostdevSpec.Node(node)));
      return;
    }
    if (guest.kernel().isPresent()) {
      spec.boot(
          new Boot.DirectKernel(
              folder.resolve(GuestSteps.KERNEL).toString(),
              guest
                  .kernel()
                  .get()
                  .initramfs()
                  .map(i -> folder.resolve(GuestSteps.INITRAMFS).toString()),
              arguments(input, guest)));
    } else {
      boolean uefi = guest.firmware() == Guest.Firmware.UEFI;
      spec.boot(new Boot.FromDisk(uefi ? Boot.Firmware.UEFI : Boot.Firmware.BIOS));
      spec.disk(disk(folder.resolve(GuestSteps.ROOT_DISK), false));
    }
    for (Disk disk : guest.disks()) {
      spec.disk(
          disk(folder.resolve(GuestSteps.diskFile(disk)), disk.readOnly())
              .withSerial(serial(disk)));
    }
    if (GuestSteps.hasSeed(input, guest)) {
      spec.disk(seed(GuestSeed.file(input, guest)));
    }
  }

  /**
   * An emulated timer on a busy host may come too late for the kernel's check of it, which then
   * panics ("IO-APIC + timer doesn't work"). Linux leaves the check out on KVM by itself.
   *
   * @see <a href="https://docs.kernel.org/admin-guide/kernel-parameters.html">no_timer_check</a>
   */
  private static String arguments(PlanInput input, Guest guest) {
    String arguments = guest.kernel().orElseThrow().arguments();
    if (isEmulated(input, guest)) {
      return with(arguments, NO_TIMER_CHECK);
    }
    // A PV or PVH guest has no serial port to print to.
    return kind(input, guest) == Virtualization.HVM ? arguments : with(arguments, XEN_CONSOLE);
  }

  private static String with(String arguments, String one) {
    return arguments.contains(one) ? arguments : (arguments + " " + one).strip();
  }

  /** Whether it is emulated without hardware virtualization. */
  static boolean isEmulated(PlanInput input, Guest guest) {
    return !features(input, guest).contains(GuestFeature.HARDWARE_ACCELERATION);
  }

  private static String serial(Disk disk) {
    String name = disk.name().text();
    return name.substring(0, Math.min(name.length(), DiskSpec.SERIAL_LENGTH));
  }

  private static DiskSpec disk(Path file, boolean readOnly) {
    return new DiskSpec(
        new DiskSpec.ImageFile(file.toString()),
        DiskSpec.Format.QCOW2,
        DiskSpec.Kind.DISK,
        readOnly);
  }

  /** A disk and no CD-ROM: the small kernels of cloud images have no driver for a CD-ROM's bus. */
  private static DiskSpec seed(Path file) {
    return new DiskSpec(
        new DiskSpec.ImageFile(file.toString()), DiskSpec.Format.RAW, DiskSpec.Kind.DISK, true);
  }
}
