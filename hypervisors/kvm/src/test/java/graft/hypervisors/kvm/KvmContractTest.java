package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.HypervisorContract;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract for KVM on a host that supports every feature of KVM. */
class KvmContractTest extends HypervisorContract {
  @TempDir static Path root;

  @Override
  protected Hypervisor hypervisor() {
    return new KvmHypervisor(Hosts.withKvm(root));
  }

  @Override
  protected HostCapabilities host() {
    return Hosts.qemu("qemu:///system");
  }

  @Override
  protected HostCapabilities anotherHost() {
    return Hosts.xen();
  }
}
