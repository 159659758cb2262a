package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.util.List;
import java.util.Optional;

/** A guest. It boots a disk image, or a kernel with an initramfs. */
@Doc("A guest. It boots a disk image, or a kernel with an initramfs.")
public record Guest(
    @Doc("Its name, also as libvirt's domain and in the guest as host name.") Name name,
    @Doc(
            "A qcow2 or raw disk image that it boots, or an image that graft image keeps, such as"
                + " debian:12; it is never written, the guest gets a copy.")
        Optional<String> image,
    @Doc("A kernel that it boots directly, in place of an image.") Optional<Kernel> kernel,
    @Default("1") @Range(min = 1, max = 4096) @Doc("How many CPUs it has.") int cpus,
    @Default("512MiB") @Doc("How much memory it has.") MemorySize memory,
    @Default("{}") @Doc("Where its CPUs and memory lie on the host.") Placement placement,
    @Doc("More disks.") List<Disk> disks,
    @Doc("Its network cards. One on a user-mode network if absent.") List<Nic> networks,
    @Default("{}") @Doc("How it gets what it needs.") Setup setup,
    @Doc("The GPU that it uses without owning it.") Optional<VGpu> vgpu,
    @Doc("Devices of the host that it gets for itself.") List<Passthrough> passthrough,
    @Doc("Virtual functions that it gets for itself.") List<GuestVf> vfs,
    @Default("bios") @Doc("Its firmware. Large GPUs want uefi.") Firmware firmware,
    @Doc("On Xen: how it is virtualized. The best that fits if absent.")
        Optional<Virtualization> virtualization,
    @Default("false") @Doc("Whether the guest is kept from seeing that it is one.")
        boolean hideHypervisor,
    @Default("{}") @Doc("When it counts as ready.") Ready ready) {

  /** The same guest with other devices. */
  public Guest withDevices(List<Passthrough> given, List<GuestVf> functions) {
    return new Guest(
        name,
        image,
        kernel,
        cpus,
        memory,
        placement,
        disks,
        networks,
        setup,
        vgpu,
        given,
        functions,
        firmware,
        virtualization,
        hideHypervisor,
        ready);
  }

  /** Whether it has devices of the host or a place on it. */
  public boolean usesDevices() {
    return hasDevices() || !placement.isDefault();
  }

  /** Whether it names devices that it gets for itself. */
  public boolean hasDevices() {
    return !passthrough.isEmpty() || !vfs.isEmpty();
  }

  /** What starts the guest's boot loader. */
  public enum Firmware {
    BIOS,
    UEFI
  }
}
