package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The holders of assigned devices. A device without a driver is not necessarily free: the device's
 * guest may be off, or about to start.
 *
 * @param holders the guest or other holder of each device
 */
public record Ledger(SortedMap<PciAddress, String> holders) {
  /** No device is assigned. */
  public static final Ledger EMPTY = new Ledger(new TreeMap<>());

  public Ledger {
    holders = Collections.unmodifiableSortedMap(new TreeMap<>(holders));
  }

  public Optional<String> holder(PciAddress device) {
    return Optional.ofNullable(holders.get(device));
  }

  /**
   * A copy in which {@code holder} has the device; equal to this ledger if {@code holder} already
   * has it.
   *
   * @throws RefusedException if another holder has the device
   */
  public Ledger claim(PciAddress device, String holder) {
    conflict(device, holder)
        .ifPresent(
            problem -> {
              throw new RefusedException(problem);
            });
    SortedMap<PciAddress, String> more = new TreeMap<>(holders);
    more.put(device, holder);
    return new Ledger(more);
  }

  /** The reason why {@code holder} cannot have the device; empty if {@code holder} can. */
  Optional<Problem> conflict(PciAddress device, String holder) {
    return holder(device)
        .filter(present -> !present.equals(holder))
        .map(
            present ->
                new Problem(
                    device,
                    present + " has it, so " + holder + " cannot have it too",
                    "Detach it from " + present + " first, or give " + holder + " another device"));
  }

  /** A copy without the device. */
  public Ledger release(PciAddress device) {
    SortedMap<PciAddress, String> fewer = new TreeMap<>(holders);
    fewer.remove(device);
    return new Ledger(fewer);
  }

  /** The ledger as text, for a journal. */
  public Map<String, String> toMap() {
    Map<String, String> map = new TreeMap<>();
    holders.forEach((device, holder) -> map.put(device.toString(), holder));
    return map;
  }

  /** Reads the result of {@link #toMap}. */
  public static Ledger fromMap(Map<String, String> map) {
    SortedMap<PciAddress, String> holders = new TreeMap<>();
    map.forEach((device, holder) -> holders.put(PciAddress.parse(device), holder));
    return new Ledger(holders);
  }
}
