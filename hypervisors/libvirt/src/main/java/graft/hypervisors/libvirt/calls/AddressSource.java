package graft.hypervisors.libvirt.calls;

/**
 * The source of a guest's addresses; the numbers are those of virDomainInterfaceAddressesSource.
 */
public enum AddressSource {
  /** The leases of libvirt's DHCP server; only for networks of libvirt. */
  LEASE(0),
  /** The guest agent, which reports every interface, including loopback. */
  AGENT(1),
  /** The host's neighbour table. */
  ARP(2);

  private final int number;

  AddressSource(int number) {
    this.number = number;
  }

  /** The number in libvirt. */
  public int number() {
    return number;
  }
}
