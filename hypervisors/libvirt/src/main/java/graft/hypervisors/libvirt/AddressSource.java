package graft.hypervisors.libvirt;

/** Where a guest's addresses are learned; numbers from virDomainInterfaceAddressesSource. */
public enum AddressSource {
  /** Leases of libvirt's own DHCP server: networks of libvirt only. */
  LEASE(0),
  /** The guest agent: every interface, loopback too. */
  AGENT(1),
  /** The host's neighbour table. */
  ARP(2);

  private final int number;

  AddressSource(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
