package graft.sriov.preflight;

import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import java.util.ArrayList;
import java.util.List;

/** Checks a host before anything is planned, without changing it. */
public final class Preflight {
  private Preflight() {}

  /** All findings: IOMMU, vfio-pci, adapters, subnet managers, in that order. */
  public static List<Finding> check(Sysfs files, HostPci host) {
    List<Finding> findings = new ArrayList<>(IommuCheck.check(files, host));
    findings.addAll(AdapterCheck.check(host));
    findings.addAll(SubnetManagerCheck.check(files, host));
    return findings;
  }
}
