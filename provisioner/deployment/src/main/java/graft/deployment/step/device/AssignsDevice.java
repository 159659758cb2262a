package graft.deployment.step.device;

import graft.deployment.step.GuestStep;
import java.nio.file.Path;

/** A step that assigns a device of the host to a guest, which another one attaches then. */
public interface AssignsDevice extends GuestStep {
  /** The set-up that the guest belongs to. */
  String setup();

  /** The folder of all claims. */
  Path claims();

  /** Its PCI address, or the UUID of a mediated device. */
  String assigned();

  /** Its name within the lane, which journals keep. */
  @Override
  default String name() {
    return "take-" + assigned();
  }

  @Override
  default boolean isPluggable() {
    return true;
  }

  /** Neither the guest's folder nor its disks matter to it. */
  @Override
  default boolean isIndependent() {
    return true;
  }
}
