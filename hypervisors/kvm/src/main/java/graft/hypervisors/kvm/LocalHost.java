package graft.hypervisors.kvm;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;

/** What the files of this machine show about its ability to run guests, beyond libvirt's report. */
final class LocalHost {

  private final Path root;

  private Optional<Boolean> virtualization = Optional.empty();
  private Optional<Boolean> uefi = Optional.empty();

  /**
   * @param root the folder that stands for {@code /}
   */
  LocalHost(Path root) {
    this.root = root;
  }

  /**
   * The reason why KVM cannot be used here; empty if KVM can be used. libvirt offers {@code kvm}
   * whenever {@code /dev/kvm} answers, but some sandboxes have a {@code /dev/kvm} that runs no
   * ordinary guest. The CPU in such a sandbox shows neither {@code vmx} (Intel) nor {@code svm}
   * (AMD); the CPU of a host with nested virtualization shows one of them.
   *
   * @param asSelf whether guests run as this user, who must then be able to open the device
   * @see <a href="https://docs.kernel.org/virt/kvm/x86/nested-vmx.html">kernel: nested VMX</a>
   */
  Optional<String> kvmObstacle(boolean asSelf) {
    Path device = root.resolve("dev/kvm");
    if (!Files.exists(device)) {
      return Optional.of(
          "/dev/kvm does not exist: load the module kvm_intel or kvm_amd, or enable virtualization"
              + " in the firmware");
    }
    if (asSelf && !(Files.isReadable(device) && Files.isWritable(device))) {
      return Optional.of("/dev/kvm may not be opened by this user: join the group kvm");
    }
    if (!asSelf && isRootsAlone(device)) {
      return Optional.of(
          "/dev/kvm is root's alone, and libvirt's guests run as another user: chgrp kvm /dev/kvm;"
              + " chmod 0660 /dev/kvm");
    }
    return cpuHasVirtualization()
        ? Optional.empty()
        : Optional.of(
            "the CPU shows neither vmx nor svm in /proc/cpuinfo, so /dev/kvm cannot run ordinary"
                + " guests");
  }

  private static boolean isRootsAlone(Path device) {
    try {
      return Collections.disjoint(
          Files.getPosixFilePermissions(device),
          Set.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ));
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /**
   * The result is cached: planning calls this method for each guest, and the CPU does not change.
   */
  private synchronized boolean cpuHasVirtualization() {
    if (virtualization.isEmpty()) {
      virtualization = Optional.of(readCpuHasVirtualization());
    }
    return virtualization.get();
  }

  private boolean readCpuHasVirtualization() {
    try (var lines = Files.lines(root.resolve("proc/cpuinfo"))) {
      // Only x86 has a line of flags; on other architectures {@code /dev/kvm} alone decides.
      return lines
          .filter(line -> line.startsWith("flags"))
          .findFirst()
          .map(line -> Arrays.asList(line.split("\\s+")))
          .map(flags -> flags.contains("vmx") || flags.contains("svm"))
          .orElse(true);
    } catch (IOException e) {
      return true;
    }
  }

  /** Whether the kernel's vsock device for guests exists; libvirt opens it when a guest starts. */
  boolean hasVsock() {
    return Files.exists(root.resolve("dev/vhost-vsock"));
  }

  /**
   * Whether UEFI images for guests are installed, according to their firmware descriptors.
   *
   * @see <a href="https://www.qemu.org/docs/master/interop/firmware.json">QEMU: firmware.json</a>
   */
  synchronized boolean hasUefi() {
    if (uefi.isEmpty()) {
      uefi = Optional.of(hasEntries("usr/share/qemu/firmware") || hasEntries("etc/qemu/firmware"));
    }
    return uefi.get();
  }

  private boolean hasEntries(String folder) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root.resolve(folder), "*.json")) {
      return entries.iterator().hasNext();
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether this process runs as root. The libvirt session of root uses the system's daemon. */
  boolean runsAsRoot() {
    try {
      return Integer.valueOf(0).equals(Files.getAttribute(root.resolve("proc/self"), "unix:uid"));
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
