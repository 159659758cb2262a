package graft.hypervisors.libvirt.capabilities;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One kind of guest that a host can run.
 *
 * @param osType libvirt's {@code hvm}, {@code xen}, {@code xenpvh} or {@code exe}
 * @param arch libvirt's name of the architecture, {@code x86_64}
 * @param emulator the emulator's path on the host; absent if none is needed
 * @param machines machine types, aliases included
 * @param domainTypes libvirt's domain types for such guests, {@code kvm}, {@code qemu}, {@code xen}
 */
public record GuestArchitecture(
    String osType,
    String arch,
    Optional<String> emulator,
    List<String> machines,
    Set<String> domainTypes) {
  public GuestArchitecture {
    machines = List.copyOf(machines);
    domainTypes = Set.copyOf(domainTypes);
  }
}
