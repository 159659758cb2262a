package graft.deployment.descriptor;

import java.util.Locale;

/** Which hypervisor runs the guests. */
public enum HypervisorChoice {
  /** The best that the host's libvirt offers. */
  AUTO,
  /** KVM only. */
  KVM,
  /** QEMU's own emulation (TCG). */
  QEMU,
  /** Xen through libvirt's libxl driver. */
  XEN,
  /** Linux containers through libvirt's LXC driver. */
  LXC;

  /** Whether libvirt's driver of that name, as in {@code qemu:///system}, runs such guests. */
  boolean fits(String driver) {
    return switch (this) {
      case AUTO -> true;
      case KVM, QEMU -> driver.equals("qemu");
      case XEN -> driver.equals("xen");
      case LXC -> driver.equals("lxc");
    };
  }

  /** The choice where libvirt's driver is known; KVM and QEMU have the same. */
  HypervisorChoice with(String driver) {
    return this == AUTO && !driver.equals("qemu") ? valueOf(driver.toUpperCase(Locale.ROOT)) : this;
  }
}
