package graft.deployment.fabric;

import graft.common.values.MemorySize;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.step.Step;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a guest gets of the host.
 *
 * @param assign the steps that assign devices of the host to it
 * @param devices the devices that it is given then, by PCI address or UUID
 * @param ports the RDMA ports of its virtual functions; none where one of them is not known
 * @param permissive those of them that are given with all of their configuration space
 * @param place where it lies
 * @param pciWindow the address space that its firmware has to keep for its devices; absent where
 *     the firmware's own choice is enough
 */
public record GuestDevices(
    List<Step> assign,
    List<String> devices,
    List<PortName> ports,
    Set<String> permissive,
    Place place,
    Optional<MemorySize> pciWindow) {
  /** Nothing. */
  public static final GuestDevices NONE =
      new GuestDevices(List.of(), List.of(), List.of(), Set.of(), Place.ANYWHERE, Optional.empty());
}
