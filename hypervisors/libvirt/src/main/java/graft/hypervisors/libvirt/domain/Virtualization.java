package graft.hypervisors.libvirt.domain;

/** How a guest is virtualized. Xen has all three; elsewhere there is {@link #HVM} alone. */
public enum Virtualization {
  /** A whole machine with firmware and emulated devices. */
  HVM,
  /** The CPU's virtualization without emulated devices. */
  PVH,
  /** The guest's kernel asks the hypervisor for what needs privileges. */
  PV
}
