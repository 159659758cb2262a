package graft.deployment.step.device;

import graft.common.values.PciAddress;

/**
 * A step that gives a container a PCI device, which stays bound to a driver of the host. The
 * container's definition has what its programs need of the device.
 */
interface LendsDevice extends AssignsDevice {
  /** The device. */
  PciAddress device();

  @Override
  default String assigned() {
    return device().toString();
  }

  @Override
  default boolean isAttached() {
    return false;
  }
}
