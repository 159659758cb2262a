package graft.hypervisors.kvm;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.capabilities.GuestArchitecture;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.Version;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Hosts for tests: libvirt's capabilities and the files of the machine. */
final class Hosts {

  private Hosts() {}

  /** A host with an IOMMU, whose libvirt offers KVM. */
  static HostCapabilities qemu(String uri) {
    return qemu(uri, Set.of("qemu", "kvm"), true);
  }

  static HostCapabilities qemu(String uri, Set<String> domainTypes, boolean iommu) {
    return new HostCapabilities(
        LibvirtUri.parse(uri),
        "node1",
        "QEMU",
        Optional.of(new Version(7, 2, 0)),
        new Version(9, 0, 0),
        "x86_64",
        8,
        MemorySize.ofGib(16),
        List.of(),
        iommu,
        List.of(
            new GuestArchitecture(
                "hvm",
                "x86_64",
                Optional.of("/usr/bin/qemu-system-x86_64"),
                List.of("pc-q35-7.2", "q35"),
                domainTypes)));
  }

  static HostCapabilities xen() {
    return new HostCapabilities(
        LibvirtUri.XEN_SYSTEM,
        "node1",
        "Xen",
        Optional.of(new Version(4, 17, 0)),
        new Version(9, 0, 0),
        "x86_64",
        8,
        MemorySize.ofGib(16),
        List.of(),
        true,
        List.of(
            new GuestArchitecture(
                "hvm", "x86_64", Optional.empty(), List.of("xenfv"), Set.of("xen"))));
  }

  /** The files of a machine with a working KVM, UEFI images and vsock. */
  static LocalHost withKvm(Path root) {
    write(root, "dev/kvm", "");
    write(root, "dev/vhost-vsock", "");
    write(root, "proc/cpuinfo", "processor : 0\nflags\t\t: fpu vme svm npt\n");
    write(root, "usr/share/qemu/firmware/60-edk2-x86_64.json", "{}");
    return new LocalHost(root);
  }

  /** The files of a machine without KVM. */
  static LocalHost withoutKvm(Path root) {
    write(root, "proc/cpuinfo", "processor : 0\nflags\t\t: fpu vme\n");
    return new LocalHost(root);
  }

  static void write(Path root, String file, String content) {
    try {
      Path path = root.resolve(file);
      Files.createDirectories(path.getParent());
      Files.writeString(path, content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
