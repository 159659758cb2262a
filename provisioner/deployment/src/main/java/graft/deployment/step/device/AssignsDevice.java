package graft.deployment.step.device;

import graft.deployment.state.DeviceClaims;
import graft.deployment.step.GuestStep;
import java.nio.file.Path;
import java.util.Optional;

/** A step that assigns a device of the host to a guest; another step usually attaches it. */
public interface AssignsDevice extends GuestStep {
  /** The deployment that the guest belongs to. */
  String setup();

  /** The folder of all claims. */
  Path claims();

  /** The PCI address of the device, or the UUID of a mediated device. */
  String assigned();

  /** Which virtual function of an adapter it is; absent for other devices. */
  default Optional<BindPciDevice.Function> function() {
    return Optional.empty();
  }

  /** Whether another step attaches the device; else it is in the guest's definition. */
  default boolean isAttached() {
    return true;
  }

  /** The guest, as the device's claim names it. */
  default DeviceClaims.Holder holder() {
    return new DeviceClaims.Holder(setup(), guest());
  }

  /** The step's name within the chain, which journals keep. */
  @Override
  default String name() {
    return "take-" + assigned();
  }

  @Override
  default boolean isPluggable() {
    return true;
  }

  /** The step depends neither on the guest's folder nor on its disks. */
  @Override
  default boolean isIndependent() {
    return true;
  }
}
