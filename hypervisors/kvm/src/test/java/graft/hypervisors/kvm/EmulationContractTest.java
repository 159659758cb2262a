package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.HypervisorContract;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract for QEMU on a host without KVM, UEFI and vsock. */
class EmulationContractTest extends HypervisorContract {
  @TempDir static Path root;

  @Override
  protected Hypervisor hypervisor() {
    return new KvmHypervisor(Hosts.withoutKvm(root));
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
