package graft.hypervisors.libvirt;

import com.sun.jna.NativeLong;
import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;

/** How much memory and how many CPUs a guest has, within the maxima of its definition. */
public final class GuestSize {
  /** virDomainVcpuFlags: by the guest's agent, and CPUs that can be taken away again. */
  private static final int VCPU_GUEST = 8;

  private static final int VCPU_HOTPLUGGABLE = 16;

  private final Guest guest;

  GuestSize(Guest guest) {
    this.guest = guest;
  }

  /**
   * Sets how much memory the guest has, now and at its next start. A running guest takes or gives
   * back memory by its balloon driver, some time later; {@link Guest#info} tells.
   *
   * @param size at most the guest's maximum
   */
  public void setMemory(MemorySize size) {
    int flags = guest.everywhere();
    NativeLong kib = new NativeLong(size.kib());
    guest.run(
        "set the memory of",
        domain -> LibvirtLibrary.extras().virDomainSetMemoryFlags(domain, kib, flags));
  }

  /**
   * Sets how many CPUs the running guest has. When CPUs are taken away, libvirt waits for a few
   * seconds until the guest's operating system has released them.
   *
   * @param cpus at most the guest's maximum
   */
  public void setCpus(int cpus) {
    setCpus(cpus, Guest.AFFECT_LIVE);
  }

  /**
   * Asks the agent of the running guest to bring CPUs online or to take them offline, until so many
   * are online.
   *
   * @throws HypervisorException also if the guest has no agent or has not found its CPUs yet
   */
  public void setOnlineCpus(int cpus) {
    setCpus(cpus, VCPU_GUEST);
  }

  /**
   * Sets how many CPUs the guest has at its next start. All but the first can be taken away while
   * it runs.
   */
  public void setDefinedCpus(int cpus) {
    // Only those that a call adds become removable.
    setCpus(1, Guest.AFFECT_CONFIG);
    setCpus(cpus, Guest.AFFECT_CONFIG | VCPU_HOTPLUGGABLE);
  }

  private void setCpus(int cpus, int flags) {
    guest.run(
        "set the CPUs of",
        domain -> LibvirtLibrary.calls().virDomainSetVcpusFlags(domain, cpus, flags));
  }
}
