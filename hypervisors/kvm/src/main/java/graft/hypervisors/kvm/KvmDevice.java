package graft.hypervisors.kvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * The kernel's side of KVM on this machine. libvirt offers {@code kvm} whenever the device answers,
 * but some sandboxes have a {@code /dev/kvm} that runs no ordinary guest: their CPU shows neither
 * {@code vmx} (Intel) nor {@code svm} (AMD). Hosts with nested virtualization do show it.
 *
 * @see <a href="https://docs.kernel.org/virt/kvm/x86/nested-vmx.html">kernel: nested VMX</a>
 */
final class KvmDevice {

  private final Path device;
  private final Path cpuinfo;

  KvmDevice(Path device, Path cpuinfo) {
    this.device = device;
    this.cpuinfo = cpuinfo;
  }

  static KvmDevice ofThisMachine() {
    return new KvmDevice(Path.of("/dev/kvm"), Path.of("/proc/cpuinfo"));
  }

  /**
   * Why KVM cannot be used here; empty when it can.
   *
   * @param asSelf whether guests run as this user, who must then be able to open the device
   */
  Optional<String> obstacle(boolean asSelf) {
    if (!Files.exists(device)) {
      return Optional.of(
          device
              + " does not exist: load the module kvm_intel or kvm_amd, or enable"
              + " virtualization in the firmware");
    }
    if (asSelf && !(Files.isReadable(device) && Files.isWritable(device))) {
      return Optional.of(device + " may not be opened by this user: join the group kvm");
    }
    return cpuHasVirtualization()
        ? Optional.empty()
        : Optional.of(
            "the CPU shows neither vmx nor svm in "
                + cpuinfo
                + ", so "
                + device
                + " cannot run ordinary guests");
  }

  private boolean cpuHasVirtualization() {
    try (var lines = Files.lines(cpuinfo)) {
      // Only x86 has a line of flags; elsewhere the device alone decides.
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
}
