package graft.deployment.descriptor.guest;

/** What carries a guest's calls and data to the server of its GPU. */
public enum Channel {
  /** The fastest that both ends can do; the client falls back to the next. */
  AUTO,
  /** Memory shared with the host, as a PCI device; needs the server on the same host. */
  IVSHMEM,
  /**
   * InfiniBand or RoCE, through a virtual function of the guest; over TCP where UCX finds no RDMA
   * device.
   */
  RDMA,
  /** Memory and a socket shared with the host; for containers, with the server on the same host. */
  SHM,
  /** A Unix socket of the host; for containers, with the server on the same host. */
  UNIX,
  /** Pages that a Xen host grants to the guest; needs the server on the same host. */
  VCHAN,
  /** Sockets between guest and host without a network. */
  VSOCK,
  /** The guest's network. */
  TCP
}
