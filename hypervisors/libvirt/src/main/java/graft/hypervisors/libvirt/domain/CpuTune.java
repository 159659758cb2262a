package graft.hypervisors.libvirt.domain;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The placement of the guest's virtual CPUs.
 *
 * @param pins the host CPUs that each virtual CPU may use, by its number from 0; a virtual CPU
 *     without an entry is not pinned
 * @param emulator the host CPUs for the hypervisor's own threads
 */
public record CpuTune(SortedMap<Integer, CpuSet> pins, Optional<CpuSet> emulator) {
  public CpuTune {
    pins = Collections.unmodifiableSortedMap(new TreeMap<>(pins));
    pins.forEach(
        (vcpu, cpus) -> {
          if (vcpu < 0 || cpus.isEmpty()) {
            throw new IllegalArgumentException(
                "virtual CPU " + vcpu + " cannot be pinned to '" + cpus + "'");
          }
        });
  }

  /** Pins virtual CPUs and leaves the emulator's threads unpinned. */
  public static CpuTune pins(Map<Integer, CpuSet> pins) {
    return new CpuTune(new TreeMap<>(pins), Optional.empty());
  }
}
