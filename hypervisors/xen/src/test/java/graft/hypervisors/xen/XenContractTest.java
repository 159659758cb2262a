package graft.hypervisors.xen;

import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.HypervisorContract;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import java.util.List;

/** Runs the contract for Xen with an IOMMU, whose xenconsoled logs consoles. */
class XenContractTest extends HypervisorContract {
  @Override
  protected Hypervisor hypervisor() {
    return XenHypervisor.saying("virt_caps : pv hvm hvm_directio pv_directio", true);
  }

  @Override
  protected HostCapabilities host() {
    return XenHypervisorTest.host(List.of("xen", "hvm", "xenpvh"));
  }

  @Override
  protected HostCapabilities anotherHost() {
    return XenHypervisorTest.host("QEMU", List.of("hvm"));
  }
}
