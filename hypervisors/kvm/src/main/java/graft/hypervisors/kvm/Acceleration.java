package graft.hypervisors.kvm;

/** What runs a guest's instructions. */
public enum Acceleration {
  /** The CPU's own virtualization, through the kernel. */
  KVM("kvm"),
  /** QEMU's translator (TCG): works everywhere, some ten times slower. */
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
