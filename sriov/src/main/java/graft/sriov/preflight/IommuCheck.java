package graft.sriov.preflight;

import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Checks whether the kernel isolates devices and, if not, whether the reason is the firmware, the
 * command line or the kernel (Linux, Documentation/admin-guide/kernel-parameters.txt; the ACPI
 * tables DMAR of Intel and IVRS of AMD exist if the firmware has enabled the IOMMU).
 */
final class IommuCheck {
  private static final String SUBJECT = "IOMMU";
  private static final String GRUB = "edit GRUB_CMDLINE_LINUX in /etc/default/grub: ";
  private static final String REBOOT = "update-grub && reboot";

  private IommuCheck() {}

  static List<Finding> check(Sysfs files, HostPci host) {
    List<Finding> findings = new ArrayList<>();
    Set<String> options = Set.of(files.read("/proc/cmdline").orElse("").split("\\s+", -1));
    findings.add(host.hasIommu() ? working(options) : missing(files, options));
    findings.add(
        files.exists(PciPaths.driver("vfio-pci", "bind"))
            ? Finding.ok("vfio-pci", "is loaded")
            : Finding.warning(
                "vfio-pci",
                "is not loaded, so no device can be bound to it",
                "modprobe vfio-pci",
                "echo vfio-pci > /etc/modules-load.d/graft-vfio.conf"));
    return findings;
  }

  private static Finding working(Set<String> options) {
    return options.contains("iommu=pt")
        ? Finding.ok(SUBJECT, "in use, and out of the way of the host's own devices")
        : Finding.warning(
            SUBJECT,
            "in use also for the host's own devices, which costs them speed",
            GRUB + "add iommu=pt",
            REBOOT);
  }

  private static Finding missing(Sysfs files, Set<String> options) {
    for (String off : List.of("intel_iommu=off", "amd_iommu=off", "iommu=off")) {
      if (options.contains(off)) {
        return Finding.problem(
            SUBJECT, "turned off on the kernel's command line", GRUB + "remove " + off, REBOOT);
      }
    }
    boolean intel = files.exists("/sys/firmware/acpi/tables/DMAR");
    boolean amd = files.exists("/sys/firmware/acpi/tables/IVRS");
    if (!intel && !amd) {
      return Finding.problem(
          SUBJECT,
          "the firmware shows none (neither ACPI table DMAR nor IVRS)",
          "turn VT-d (Intel) or AMD-Vi/IOMMU (AMD) on in the BIOS");
    }
    if (intel && !options.contains("intel_iommu=on")) {
      return Finding.problem(
          SUBJECT,
          "the firmware has one (DMAR) and the kernel does not use it",
          GRUB + "add intel_iommu=on iommu=pt",
          REBOOT);
    }
    return Finding.problem(
        SUBJECT,
        "firmware and command line have it on, and still no device has a group",
        "dmesg | grep -i -e DMAR -e AMD-Vi -e iommu");
  }
}
