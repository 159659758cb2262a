package graft.comparison.suite;

/** How a program reaches a GPU: the papers' labels, and Graft's channels on one host. */
public enum ScenarioKind {
  /** On this host with the host's own driver. */
  NATIVE,
  /** On this host, through Graft's server over a Unix socket. */
  UNIX,
  /** On this host, through Graft's server and shared memory. */
  SHM,
  /** On this host, through Graft's server over TCP on loopback. */
  TCP,
  /** On this host, through the server of another node over an adapter's physical function. */
  PF_REMOTE,
  /** On this host, through the server of another node over an adapter's virtual function. */
  VF_REMOTE,
  /** In a guest, through a server on its host. */
  VM_LOCAL,
  /** In a container, through a server on its host. */
  LXC_LOCAL,
  /** In a guest, through the server of another node. */
  VM_REMOTE,
  /** In a guest that owns the GPU by PCI passthrough. */
  VM_PASSTHROUGH,
  /** In a container that owns the GPU by the driver's device nodes. */
  LXC_PASSTHROUGH;

  /** Whether the program runs in a guest. */
  public boolean isGuest() {
    return isContainer() || this == VM_LOCAL || this == VM_REMOTE || this == VM_PASSTHROUGH;
  }

  /** Whether the program runs in a container, whatever hypervisors a suite lists. */
  public boolean isContainer() {
    return this == LXC_LOCAL || this == LXC_PASSTHROUGH;
  }

  /** Whether the program uses the server of another node, whose address is in the suite. */
  public boolean isOtherNode() {
    return this == PF_REMOTE || this == VF_REMOTE;
  }

  /** Whether some middleware lies between the program and the driver. */
  public boolean isRemoted() {
    return this != NATIVE && this != VM_PASSTHROUGH && this != LXC_PASSTHROUGH;
  }
}
