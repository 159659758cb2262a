package graft.deployment.fabric;

import graft.common.values.MemorySize;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.step.Step;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The devices of the host that a guest gets, and its placement.
 *
 * @param assign the steps that assign devices of the host to it
 * @param devices the devices that are attached then, by PCI address or UUID
 * @param ports the RDMA ports of its virtual functions; empty where one of them is not known
 * @param permissive those of them whose whole configuration space the guest may write
 * @param place its placement
 * @param pciWindow the address space that its firmware has to reserve for its devices; absent where
 *     the firmware's default is enough
 */
public record GuestDevices(
    List<Step> assign,
    List<String> devices,
    List<PortName> ports,
    Set<String> permissive,
    Place place,
    Optional<MemorySize> pciWindow) {
  /** No devices. */
  public static final GuestDevices NONE =
      new GuestDevices(List.of(), List.of(), List.of(), Set.of(), Place.ANYWHERE, Optional.empty());
}
