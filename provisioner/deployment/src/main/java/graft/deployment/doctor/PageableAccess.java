package graft.deployment.doctor;

import graft.deployment.gpu.CudaDevice;
import graft.sriov.files.Sysfs;
import java.util.List;
import java.util.Optional;

/**
 * Whether kernels that a server of this host runs for guests would reach the memory of their
 * worker's process. No check of a guest's calls prevents that, because the addresses are computed
 * in the kernels themselves.
 */
final class PageableAccess {
  private static final String PARAMETER = "/sys/module/nvidia_uvm/parameters/uvm_disable_hmm";

  private PageableAccess() {}

  /**
   * Returns a finding if the access is possible, or if it is turned off.
   *
   * @param devices the devices of the CUDA driver
   */
  static Optional<Finding> examine(List<CudaDevice> devices, Sysfs host) {
    boolean ats = devices.stream().anyMatch(device -> device.pageable() && device.ats());
    if (ats) {
      return Optional.of(
          Finding.warning(
              "ATS",
              "a guest's kernels reach the memory of their worker's process by the host's page"
                  + " tables, which cannot be turned off",
              "see docs/security.md, and serve only guests that you trust"));
    }
    // The driver's own answer counts. The parameter is also N where the kernel or the GPU has no
    // HMM.
    boolean hmm = devices.stream().anyMatch(CudaDevice::pageable);
    boolean off = host.read(PARAMETER).filter(value -> value.matches("[Yy1]")).isPresent();
    if (hmm) {
      return Optional.of(
          Finding.warning(
              "HMM",
              "a guest's kernels reach the memory of their worker's process (HMM); "
                  + (off
                      ? "nvidia_uvm's uvm_disable_hmm is set and has no effect yet"
                      : "nvidia_uvm's uvm_disable_hmm is not set"),
              "echo options nvidia_uvm uvm_disable_hmm=1 > /etc/modprobe.d/graft-uvm.conf; then,"
                  + " while no program uses the GPU: modprobe -r nvidia_uvm; modprobe nvidia_uvm"));
    }
    return off
        ? Optional.of(Finding.ok("HMM", "off by nvidia_uvm's uvm_disable_hmm"))
        : Optional.empty();
  }
}
