package graft.sriov.preflight;

import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import java.util.ArrayList;
import java.util.List;

/** Looks a host over before anything is planned for it. Reads only. */
public final class Preflight {
  private Preflight() {}

  /** Everything that was looked at: IOMMU, vfio-pci, adapters, subnet managers, in that order. */
  public static List<Finding> check(Sysfs files, HostPci host) {
    List<Finding> findings = new ArrayList<>(IommuCheck.check(files, host));
    findings.addAll(AdapterCheck.check(host));
    findings.addAll(SubnetManagerCheck.check(files, host));
    return findings;
  }
}
