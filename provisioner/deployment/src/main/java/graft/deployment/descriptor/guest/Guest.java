package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Key;
import graft.common.bind.OneOrMore;
import graft.common.bind.Range;
import graft.common.bind.Synonyms;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.util.List;
import java.util.Optional;

/**
 * A guest. It boots a disk image, or a kernel with an initramfs, or it is a container, or it exists
 * already.
 */
@Doc(
    "A guest. It boots a disk image, or a kernel with an initramfs, or it is a container, or it"
        + " exists already.")
public record Guest(
    @Doc(
            "Its name, also that of the libvirt domain that Graft makes, and the host name in the"
                + " guest.")
        Name name,
    @Doc(
            "A qcow2 or raw disk image that it boots, or the name of an image of graft image, such"
                + " as debian:12. The guest gets a copy; the image itself is never written.")
        Optional<String> image,
    @Doc(
            "The size of the disk that it boots, at least its image's, which is the size if absent."
                + " A larger one makes the disk of a guest that exists larger, also while it runs;"
                + " a disk never shrinks.")
        Optional<MemorySize> diskSize,
    @Doc("A kernel that it boots directly, in place of an image.") Optional<Kernel> kernel,
    @Doc("A machine that exists already, in place of one that Graft makes.")
        Optional<Existing> existing,
    @Doc(
            "Of a container (hypervisor: lxc): the root file system that it begins with: the"
                + " name of one of graft image build --container, such as debian:12, or a folder, a"
                + " tar archive or an initramfs. The container gets a copy, which it may write.")
        Optional<String> root,
    @Default("1")
        @Range(min = 1, max = 4096)
        @Synonyms({"vcpus", "vcpu", "cores"})
        @Doc("The number of its CPUs.")
        int cpus,
    @Range(min = 1, max = 4096)
        @Synonyms({"max-vcpus", "max-vcpu"})
        @Doc(
            "The largest number of CPUs that it can get while it runs. Where it is given, a change"
                + " of cpus is made in place; a guest without the key restarts for another number."
                + " Not for containers and guests whose CPUs are pinned one by one.")
        Optional<Integer> maxCpus,
    @Default("512MiB") @Synonyms({"ram", "mem"}) @Doc("The size of its memory.") MemorySize memory,
    @Doc(
            "The largest memory that it can get while it runs. Where it is given, a change of"
                + " memory is made in place, by the guest's balloon driver (virtio_balloon); a"
                + " guest without the key restarts for another size. Not for guests with devices of"
                + " the host, huge pages or locked memory, which hold all of it from the start.")
        Optional<MemorySize> maxMemory,
    @Default("{}") @Doc("Where its CPUs and memory are placed on the host.") Placement placement,
    @Doc("More disks.") List<Disk> disks,
    @Doc("Its network cards. If absent, a closed one if it has a vgpu, else none.")
        List<Nic> networks,
    @Default("{}") @Doc("How the client and whatever else it needs are installed.") Setup setup,
    @Key("vgpu")
        @OneOrMore
        @Doc(
            "The GPU that it uses without owning it. With a list of GPUs the guest's programs see"
                + " those of all of them as their devices 0 to n, in the order of the list; each"
                + " has a server of its own. With any, plan chooses the GPU.")
        List<VGpu> vgpus,
    @Doc("Devices of the host that are passed through to it.") List<Passthrough> passthrough,
    @Doc("Virtual functions that are passed through to it.") List<GuestVf> vfs,
    @Default("bios") @Doc("Its firmware. Large GPUs need uefi.") Firmware firmware,
    @Doc("On Xen: the virtualization type. If absent, the best that fits.")
        Optional<Virtualization> virtualization,
    @Default("false") @Doc("Whether the hypervisor is hidden from the guest.")
        boolean hideHypervisor,
    @Default("{}") @Doc("When the guest counts as ready.") Ready ready,
    @Doc("With hosts, the name of the host that it is on.") Optional<Name> host) {

  /** A copy with other devices. */
  public Guest withDevices(List<Passthrough> given, List<GuestVf> functions) {
    return with(vgpus, given, functions);
  }

  /** A copy with other vGPUs. */
  public Guest withVgpus(List<VGpu> given) {
    return with(given, passthrough, vfs);
  }

  private Guest with(List<VGpu> remote, List<Passthrough> given, List<GuestVf> functions) {
    return new Guest(
        name,
        image,
        diskSize,
        kernel,
        existing,
        root,
        cpus,
        maxCpus,
        memory,
        maxMemory,
        placement,
        disks,
        networks,
        setup,
        remote,
        given,
        functions,
        firmware,
        virtualization,
        hideHypervisor,
        ready,
        host);
  }

  /** Whether it uses a GPU without owning it. */
  public boolean hasVgpu() {
    return !vgpus.isEmpty();
  }

  /** What it sees of a GPU; empty if it does not use that GPU. */
  public Optional<VGpu> vgpu(Name gpu) {
    return vgpus.stream().filter(vgpu -> vgpu.gpu().equals(gpu)).findFirst();
  }

  /**
   * What distinguishes the things that a guest has once for each of its vGPUs, such as its tokens:
   * empty for the first vGPU, whose things have the guest's name alone, else the GPU's name.
   */
  public Optional<Name> further(Name gpu) {
    boolean isFirst = vgpus.isEmpty() || vgpus.get(0).gpu().equals(gpu);
    return isFirst ? Optional.empty() : Optional.of(gpu);
  }

  /** Whether it has devices of the host, or a placement on the host. */
  public boolean usesDevices() {
    return hasDevices() || !placement.isDefault();
  }

  /** Whether devices are passed through to it. */
  public boolean hasDevices() {
    return !passthrough.isEmpty() || !vfs.isEmpty();
  }

  /** What starts the guest's boot loader. */
  public enum Firmware {
    BIOS,
    UEFI
  }
}
