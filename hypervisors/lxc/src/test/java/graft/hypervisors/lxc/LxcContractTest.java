package graft.hypervisors.lxc;

import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.HypervisorContract;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;

/** Runs the contract for Linux containers. */
class LxcContractTest extends HypervisorContract {
  @Override
  protected Hypervisor hypervisor() {
    return new LxcHypervisor();
  }

  @Override
  protected HostCapabilities host() {
    return LxcHypervisorTest.host("LXC", "exe", "lxc");
  }

  @Override
  protected HostCapabilities anotherHost() {
    return LxcHypervisorTest.host("QEMU", "hvm", "kvm");
  }
}
