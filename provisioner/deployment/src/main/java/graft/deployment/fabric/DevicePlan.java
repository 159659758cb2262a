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
 * @param guests the devices of each guest, by its name; guests without devices are left out
 * @param ports the RDMA ports of each adapter's physical function, by its name
 * @param notes choices and their reasons, and remarks on devices
 * @param warnings consequences that a user may not expect
 * @param first whether the rest of the plan can only be made after these steps and after a module
 *     has been loaded again
 */
public record DevicePlan(
    List<Step> steps,
    Map<Name, GuestDevices> guests,
    Map<Name, List<PortName>> ports,
    List<String> notes,
    List<String> warnings,
    boolean first) {
  /** No steps. */
  public static final DevicePlan NONE =
      new DevicePlan(List.of(), Map.of(), Map.of(), List.of(), List.of(), false);

  /** Copies the lists. */
  public DevicePlan {
    steps = List.copyOf(steps);
    guests = Map.copyOf(guests);
    ports = Map.copyOf(ports);
    notes = List.copyOf(notes);
    warnings = List.copyOf(warnings);
  }

  /** The devices of a guest. */
  public GuestDevices of(Name guest) {
    return guests.getOrDefault(guest, GuestDevices.NONE);
  }
}
