package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.HypervisorException;

/** Failures of libvirt after which the same call is to be tried again. */
final class TransientFailure {
  private static final String INTERRUPTED =
      "failed to load cgroup BPF prog: Resource temporarily unavailable";

  private static final String CGROUP_GONE = "cgroup.threads: No such device";

  private TransientFailure() {}

  /**
   * Whether a start that failed may succeed at once. Linux interrupts the check of a BPF program
   * with EAGAIN when a signal arrives. libbpf then tries again, and libvirt, which loads one for
   * the devices of a guest's cgroup, does not.
   */
  static boolean ofStart(HypervisorException failure) {
    return says(failure, INTERRUPTED);
  }

  /**
   * Whether a container has ended while libvirt killed its processes: their cgroup had gone when
   * libvirt looked for those that are left, which it takes for a failure.
   */
  static boolean ofDestroy(HypervisorException failure) {
    return says(failure, CGROUP_GONE);
  }

  private static boolean says(HypervisorException failure, String words) {
    return String.valueOf(failure.getMessage()).contains(words);
  }
}
