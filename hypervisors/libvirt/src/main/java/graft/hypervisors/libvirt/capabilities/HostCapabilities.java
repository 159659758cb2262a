package graft.hypervisors.libvirt.capabilities;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.util.List;
import java.util.Optional;

/**
 * What a host is and can run, as its libvirt daemon says.
 *
 * @param uri of the connection that was asked
 * @param hostname the daemon's
 * @param hypervisor libvirt's name of the driver, {@code QEMU}, {@code Xen}, {@code TEST}
 * @param hypervisorVersion of the hypervisor; absent where there is none to speak of
 * @param libvirtVersion of the daemon
 * @param arch of the host's CPUs
 * @param cpus that are online
 * @param memory that the host has
 * @param numaCells its NUMA nodes; empty when the daemon does not tell
 * @param iommu whether libvirt found an IOMMU for passthrough
 * @param guests what it can run
 */
public record HostCapabilities(
    LibvirtUri uri,
    String hostname,
    String hypervisor,
    Optional<Version> hypervisorVersion,
    Version libvirtVersion,
    String arch,
    int cpus,
    MemorySize memory,
    List<NumaCell> numaCells,
    boolean iommu,
    List<GuestArchitecture> guests) {
  public HostCapabilities {
    numaCells = List.copyOf(numaCells);
    guests = List.copyOf(guests);
  }

  /** Guests of the host's own architecture with that OS type. */
  public Optional<GuestArchitecture> nativeGuest(String osType) {
    return guests.stream()
        .filter(g -> g.osType().equals(osType) && g.arch().equals(arch))
        .findFirst();
  }

  /** Whether guests of the host's own architecture can be of libvirt's domain type, as kvm. */
  public boolean offersDomainType(String domainType) {
    return guests.stream()
        .anyMatch(g -> g.arch().equals(arch) && g.domainTypes().contains(domainType));
  }
}
