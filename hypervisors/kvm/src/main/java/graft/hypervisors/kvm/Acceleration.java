package graft.hypervisors.kvm;

/** How a guest's instructions are executed. */
public enum Acceleration {
  /** By the CPU's virtualization extensions, through the kernel. */
  KVM("kvm"),
  /** By QEMU's translator (TCG), which works on every host and is some ten times slower. */
  EMULATION("qemu");

  private final String domainType;

  Acceleration(String domainType) {
    this.domainType = domainType;
  }

  /** libvirt's domain type. */
  String domainType() {
    return domainType;
  }
}
