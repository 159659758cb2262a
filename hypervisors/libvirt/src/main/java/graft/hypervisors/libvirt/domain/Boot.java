package graft.hypervisors.libvirt.domain;

import java.util.List;
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

  /**
   * The host's kernel starts a program in a root folder of the host, as the first process of a
   * container.
   *
   * @param root the folder's path on the host that runs libvirt
   * @param init the program's path in that folder
   * @param ids the users and groups of the host that those of the container are
   * @param folders the folders and files of the host that the container sees elsewhere in its root
   */
  record Container(String root, String init, IdRange ids, List<SharedFolder> folders)
      implements Boot {
    public Container {
      Checks.absolutePath("root", root);
      Checks.absolutePath("init", init);
      folders = List.copyOf(folders);
    }
  }

  /**
   * A folder or a file of the host that a container may read and not write.
   *
   * @param source its path on the host that runs libvirt, through no symbolic link, which would
   *     lead elsewhere in the container
   * @param target its path in the container
   */
  record SharedFolder(String source, String target) {
    public SharedFolder {
      Checks.absolutePath("source", source);
      Checks.absolutePath("target", target);
    }
  }

  /**
   * Numbers of users and groups of the host: the container's user 0 is the first, and so on.
   *
   * @param first the first number; never 0, which is the host's root
   */
  record IdRange(long first, long count) {
    public IdRange {
      Checks.positive("the first user of a container", first);
      Checks.positive("the number of a container's users", count);
    }

    /** Whether some number is in both ranges. */
    public boolean overlaps(IdRange other) {
      return first < other.first + other.count && other.first < first + count;
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
