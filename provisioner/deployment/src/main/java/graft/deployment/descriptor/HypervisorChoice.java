package graft.deployment.descriptor;

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
  LXC
}
