package graft.provisioner.plan;

import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.MacAddress;
import graft.hypervisors.libvirt.domain.MemorySize;
import graft.hypervisors.libvirt.domain.SerialSpec;
import graft.provisioner.descriptor.Disk;
import graft.provisioner.descriptor.Guest;
import graft.provisioner.descriptor.Kernel;
import graft.provisioner.descriptor.Nic;
import graft.provisioner.descriptor.Setup;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Says a guest of the descriptor in the hypervisors' words. */
final class GuestDomain {
  private static final String NO_TIMER_CHECK = "no_timer_check";

  private GuestDomain() {}

  static DomainSpec spec(PlanInput input, Guest guest) {
    String setup = input.descriptor().setupName().text();
    String name = guest.name().text();
    DomainSpec.Builder spec =
        DomainSpec.named(name)
            .uuid(Identities.uuid(setup, name))
            .cpus(guest.cpus())
            .memory(MemorySize.ofBytes(guest.memory().bytes()))
            .hideHypervisor(guest.hideHypervisor())
            .serial(new SerialSpec(input.layout().console(guest.name()).toString()))
            .channel(ChannelSpec.GUEST_AGENT)
            .metadata(GuestMetadata.of(setup));
    boot(input, guest, spec);
    List<Nic> nics = nics(guest);
    for (int i = 0; i < nics.size(); i++) {
      spec.networkInterface(card(nics.get(i), Identities.mac(setup, name, i)));
    }
    return spec.build();
  }

  private static void boot(PlanInput input, Guest guest, DomainSpec.Builder spec) {
    Path folder = input.layout().guest(guest.name());
    if (guest.kernel().isPresent()) {
      spec.boot(
          new Boot.DirectKernel(
              folder.resolve(GuestSteps.KERNEL).toString(),
              guest
                  .kernel()
                  .get()
                  .initramfs()
                  .map(i -> folder.resolve(GuestSteps.INITRAMFS).toString()),
              arguments(input, guest.kernel().get())));
    } else {
      boolean uefi = guest.firmware() == Guest.Firmware.UEFI;
      spec.boot(new Boot.FromDisk(uefi ? Boot.Firmware.UEFI : Boot.Firmware.BIOS));
      spec.disk(disk(folder.resolve(GuestSteps.ROOT_DISK), false));
    }
    for (Disk disk : guest.disks()) {
      spec.disk(disk(folder.resolve(GuestSteps.diskFile(disk)), disk.readOnly()));
    }
    if (GuestSteps.way(guest) == Setup.Way.SEED) {
      spec.disk(seed(folder.resolve(GuestSteps.SEED)));
    }
  }

  /**
   * An emulated timer on a busy host may come too late for the kernel's check of it, which then
   * panics ("IO-APIC + timer doesn't work"). Linux leaves the check out on KVM by itself.
   *
   * @see <a href="https://docs.kernel.org/admin-guide/kernel-parameters.html">no_timer_check</a>
   */
  private static String arguments(PlanInput input, Kernel kernel) {
    boolean emulated =
        !input
            .hypervisor()
            .features(input.snapshot().libvirt().capabilities().orElseThrow())
            .contains(GuestFeature.HARDWARE_ACCELERATION);
    return emulated && !kernel.arguments().contains(NO_TIMER_CHECK)
        ? (kernel.arguments() + " " + NO_TIMER_CHECK).strip()
        : kernel.arguments();
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

  /** A guest without cards gets one, because its client needs a way to the server. */
  static List<Nic> nics(Guest guest) {
    return guest.networks().isEmpty()
        ? List.of(new Nic(Nic.USER, Optional.empty()))
        : guest.networks();
  }

  private static InterfaceSpec card(Nic nic, MacAddress made) {
    InterfaceSpec card =
        nic.isUser() ? InterfaceSpec.userMode() : InterfaceSpec.network(nic.network().text());
    return card.withMac(nic.mac().map(m -> new MacAddress(m.toString())).orElse(made));
  }
}
