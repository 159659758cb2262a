package graft.hypervisors.libvirt.domain;

import java.util.UUID;

/**
 * A device of the host that is assigned to the guest. It is always written {@code managed='no'}:
 * binding and freeing the device are steps of their own, so that a plan shows them and can undo
 * them.
 */
public sealed interface HostdevSpec {

  /**
   * A PCI function.
   *
   * @param address the function on the host
   */
  record Pci(PciAddress address) implements HostdevSpec {
    @Override
    public String toString() {
      return address.toString();
    }
  }

  /**
   * A mediated device: a share of a device, made by its driver.
   *
   * @param uuid its name on the host
   */
  record Mediated(UUID uuid) implements HostdevSpec {
    @Override
    public String toString() {
      return uuid.toString();
    }
  }

  /**
   * Reads what {@link Object#toString} of either kind prints.
   *
   * @throws IllegalArgumentException when it is neither
   */
  static HostdevSpec parse(String text) {
    return text.contains(":")
        ? new Pci(PciAddress.parse(text))
        : new Mediated(UUID.fromString(text));
  }
}
