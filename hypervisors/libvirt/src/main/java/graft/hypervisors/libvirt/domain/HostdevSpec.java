package graft.hypervisors.libvirt.domain;

/**
 * A PCI function of the host given to the guest. It is always written {@code managed='no'}: binding
 * and freeing the device are steps of their own, so that a plan shows them and can undo them.
 *
 * @param address the function on the host
 */
public record HostdevSpec(PciAddress address) {}
