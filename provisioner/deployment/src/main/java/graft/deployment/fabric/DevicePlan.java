package graft.deployment.fabric;

import graft.common.values.Name;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.step.Step;
import java.util.List;
import java.util.Map;

/**
 * What is to be done with the host's devices.
 *
 * @param steps on the host itself: huge pages, adapters, what happens at boot
 * @param guests what each guest gets, by its name; those that get nothing are left out
 * @param ports the RDMA ports of each adapter's physical function, by its name
 * @param notes what was chosen and why, and what one should know of a device
 * @param warnings what may surprise
 * @param first whether these steps are all for now: the rest can be planned when a module has been
 *     loaded again
 */
public record DevicePlan(
    List<Step> steps,
    Map<Name, GuestDevices> guests,
    Map<Name, List<PortName>> ports,
    List<String> notes,
    List<String> warnings,
    boolean first) {
  /** Nothing. */
  public static final DevicePlan NONE =
      new DevicePlan(List.of(), Map.of(), Map.of(), List.of(), List.of(), false);

  /** Keeps the lists from changing. */
  public DevicePlan {
    steps = List.copyOf(steps);
    guests = Map.copyOf(guests);
    ports = Map.copyOf(ports);
    notes = List.copyOf(notes);
    warnings = List.copyOf(warnings);
  }

  /** What a guest gets. */
  public GuestDevices of(Name guest) {
    return guests.getOrDefault(guest, GuestDevices.NONE);
  }
}
