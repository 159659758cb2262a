package graft.hypervisors.libvirt.domain;

/**
 * The kind of a guest's virtualization. Xen has all three kinds; other hypervisors have {@link
 * #HVM} only.
 */
public enum Virtualization {
  /** A fully virtualized machine with firmware and emulated devices. */
  HVM,
  /** Hardware virtualization without emulated devices. */
  PVH,
  /** The guest's kernel calls the hypervisor for privileged operations. */
  PV
}
