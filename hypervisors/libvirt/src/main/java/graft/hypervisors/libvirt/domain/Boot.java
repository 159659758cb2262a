package graft.hypervisors.libvirt.domain;

import java.util.Optional;

/** How a guest boots. */
public sealed interface Boot {

  /**
   * The hypervisor loads a kernel and an initramfs from files of the host.
   *
   * @param kernel the kernel's path on the host that runs libvirt
   * @param initrd the initramfs's path on the host that runs libvirt
   * @param commandLine the kernel's command line; may be empty
   */
  record DirectKernel(String kernel, Optional<String> initrd, String commandLine) implements Boot {
    public DirectKernel {
      Checks.absolutePath("kernel", kernel);
      initrd.ifPresent(path -> Checks.absolutePath("initrd", path));
      Checks.singleLine("kernel command line", commandLine);
    }
  }

  /** The guest's firmware boots the first disk that is bootable. */
  record FromDisk(Firmware firmware) implements Boot {}

  /** The firmware that starts the boot loader. */
  enum Firmware {
    BIOS,
    /** Needs OVMF or similar firmware on the host; libvirt chooses the image. */
    UEFI
  }
}
