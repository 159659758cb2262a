package graft.hypervisors.libvirt.capabilities;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.util.List;
import java.util.Optional;

/**
 * The properties of a host and the guests that it can run, as reported by its libvirt daemon.
 *
 * @param uri the URI of the connection
 * @param hostname the host name that the daemon reports
 * @param hypervisor libvirt's name of the driver, {@code QEMU}, {@code Xen}, {@code TEST}
 * @param hypervisorVersion the hypervisor's version; absent if the driver has none
 * @param libvirtVersion the daemon's version
 * @param arch the architecture of the host's CPUs
 * @param cpus the number of CPUs that are online
 * @param memory the host's memory
 * @param numaCells the host's NUMA nodes; empty if the daemon does not report them
 * @param iommu whether libvirt found an IOMMU for passthrough
 * @param guests the kinds of guests that the host can run
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

  /** The guests of the host's own architecture that have the OS type. */
  public Optional<GuestArchitecture> nativeGuest(String osType) {
    return guests.stream()
        .filter(g -> g.osType().equals(osType) && g.arch().equals(arch))
        .findFirst();
  }

  /**
   * Whether guests of the host's own architecture can have the domain type, such as {@code kvm}.
   */
  public boolean offersDomainType(String domainType) {
    return guests.stream()
        .anyMatch(g -> g.arch().equals(arch) && g.domainTypes().contains(domainType));
  }
}
