package graft.sriov.preflight;

import graft.common.values.PciAddress;
import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Checks a host before anything is planned, without changing it. */
public final class Preflight {
  private Preflight() {}

  /** All findings: IOMMU, vfio-pci, NUMA, adapters, subnet managers, what was left behind. */
  public static List<Finding> check(Sysfs files, HostPci host) {
    return check(files, host, Set.of());
  }

  /**
   * All findings.
   *
   * @param lent the functions whose network interfaces containers that run now have
   */
  public static List<Finding> check(Sysfs files, HostPci host, Set<PciAddress> lent) {
    List<Finding> findings = new ArrayList<>(IommuCheck.check(files, host));
    findings.addAll(NumaCheck.check(files));
    findings.addAll(AdapterCheck.check(host));
    findings.addAll(SubnetManagerCheck.check(files, host));
    findings.addAll(LeftoverCheck.check(host, lent));
    return findings;
  }
}
