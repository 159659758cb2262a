package graft.deployment.gpu;

import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.calls.GuestText;
import graft.sriov.files.RootFolder;
import java.util.Optional;

/**
 * A device as the CUDA driver describes it.
 *
 * @param index the driver's number for the device, in the order of PCI addresses
 * @param memory all of the device's memory, in bytes
 * @param capability the compute capability, {@code 9.0}
 * @param megahertz the highest clock of the multiprocessors
 * @param pageable whether kernels reach the program's pageable memory
 * @param ats whether kernels reach that memory by the host's page tables and not by HMM
 */
public record CudaDevice(
    int index,
    String name,
    String pci,
    long memory,
    String capability,
    int megahertz,
    boolean pageable,
    boolean ats) {
  /** The longest name that is shown. */
  private static final int SHOWN = 100;

  /** Whether the device is the PCI function at this address. */
  public boolean isAt(PciAddress address) {
    return PciAddress.tryParse(pci).filter(address::equals).isPresent();
  }

  /** Name, compute capability and memory; the name may come from a server's GPU. */
  public String describe() {
    return GuestText.line(name, SHOWN)
        + ", compute capability "
        + capability
        + ", "
        + new MemorySize(memory).rounded();
  }

  /**
   * The current speed of the device's PCI link, {@code 32.0 GT/s PCIe}; empty if the device has no
   * such link.
   */
  public Optional<String> link() {
    return RootFolder.thisHost().read("/sys/bus/pci/devices/" + pci + "/current_link_speed");
  }

  /**
   * A note on access to pageable memory that programs of this machine have and programs of guests
   * lack; empty if there is no such difference.
   */
  public Optional<String> pageableNote() {
    if (!pageable) {
      return Optional.empty();
    }
    String note = "kernels reach pageable memory natively, and not through Graft's client; ";
    return Optional.of(
        note
            + (ats
                ? "by the host's page tables (ATS), which cannot be turned off"
                : "by HMM, which nvidia_uvm's parameter uvm_disable_hmm=1 turns off"));
  }
}
