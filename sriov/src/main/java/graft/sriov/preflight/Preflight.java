package graft.sriov.preflight;

import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import java.util.ArrayList;
import java.util.List;

/** Checks a host before anything is planned, without changing it. */
public final class Preflight {
  private Preflight() {}

  /** All findings: IOMMU, vfio-pci, NUMA, adapters, subnet managers, what was left behind. */
  public static List<Finding> check(Sysfs files, HostPci host) {
    List<Finding> findings = new ArrayList<>(IommuCheck.check(files, host));
    findings.addAll(NumaCheck.check(files));
    findings.addAll(AdapterCheck.check(host));
    findings.addAll(SubnetManagerCheck.check(files, host));
    findings.addAll(LeftoverCheck.check(host));
    return findings;
  }
}
