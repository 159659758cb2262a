package graft.deployment.step.device;

import graft.deployment.step.Step;

/** A step that assigns a device of the host to a guest, which another one attaches then. */
public interface AssignsDevice extends Step {
  /** Its PCI address, or the UUID of a mediated device. */
  String assigned();

  /** Its name within the chain, which journals keep. */
  @Override
  default String name() {
    return "take-" + assigned();
  }
}
