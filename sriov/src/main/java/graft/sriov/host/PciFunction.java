package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.files.Sysfs;
import java.util.List;

/**
 * One PCI function with the RDMA devices that its driver has created.
 *
 * @param device the function
 * @param rdma the function's RDMA devices, by name
 */
public record PciFunction(PciDevice device, List<RdmaDevice> rdma) {
  public PciFunction {
    rdma = List.copyOf(rdma);
  }

  /** Reads one function. Absent values are empty in the result. */
  public static PciFunction read(Sysfs files, PciAddress address) {
    return new PciDeviceReader(files).read(address);
  }
}
