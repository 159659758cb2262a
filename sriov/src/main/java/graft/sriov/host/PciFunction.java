package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.files.Sysfs;
import java.util.List;

/**
 * One PCI function with the RDMA devices that its driver has made of it.
 *
 * @param device the function
 * @param rdma its RDMA devices, by name
 */
public record PciFunction(PciDevice device, List<RdmaDevice> rdma) {
  public PciFunction {
    rdma = List.copyOf(rdma);
  }

  /** Reads one function; what is not there comes out empty. */
  public static PciFunction read(Sysfs files, PciAddress address) {
    return new PciDeviceReader(files).read(address);
  }
}
