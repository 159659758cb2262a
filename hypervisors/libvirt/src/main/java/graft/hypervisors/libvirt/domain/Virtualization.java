package graft.hypervisors.libvirt.domain;

/**
 * The kind of a guest's virtualization. Xen has {@link #HVM}, {@link #PVH} and {@link #PV}, KVM has
 * {@link #HVM} only, and Linux containers are {@link #CONTAINER}.
 */
public enum Virtualization {
  /** A fully virtualized machine with firmware and emulated devices. */
  HVM,
  /** Hardware virtualization without emulated devices. */
  PVH,
  /** The guest's kernel calls the hypervisor for privileged operations. */
  PV,
  /** No machine at all: processes of the host's kernel in namespaces of their own. */
  CONTAINER
}
