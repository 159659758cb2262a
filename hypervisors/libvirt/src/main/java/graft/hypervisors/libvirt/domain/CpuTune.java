package graft.hypervisors.libvirt.domain;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Where the guest's virtual CPUs run.
 *
 * @param pins for each virtual CPU, from 0, the host CPUs that it may use; those not named float
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

  /** Pins only, the emulator floats. */
  public static CpuTune pins(Map<Integer, CpuSet> pins) {
    return new CpuTune(new TreeMap<>(pins), Optional.empty());
  }
}
