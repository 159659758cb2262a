package graft.hypervisors.libvirt.domain;

import java.util.Optional;

/** How a guest comes up. */
public sealed interface Boot {

  /**
   * The hypervisor loads a kernel and an initramfs from files of the host.
   *
   * @param kernel path on the host that runs libvirt
   * @param initrd path on the host that runs libvirt
   * @param commandLine the kernel's; empty for none
   */
  record DirectKernel(String kernel, Optional<String> initrd, String commandLine) implements Boot {
    public DirectKernel {
      Checks.absolutePath("kernel", kernel);
      initrd.ifPresent(path -> Checks.absolutePath("initrd", path));
      Checks.singleLine("kernel command line", commandLine);
    }
  }

  /** The guest's firmware boots the first disk that it can. */
  record FromDisk(Firmware firmware) implements Boot {}

  /** What runs before the boot loader. */
  enum Firmware {
    BIOS,
    /** Needs OVMF or the like on the host; libvirt picks the image. */
    UEFI
  }
}
