package graft.deployment.descriptor;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Key;
import graft.common.bind.Range;
import graft.common.values.Name;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Guest;
import java.util.List;
import java.util.Optional;

/**
 * A whole descriptor.
 *
 * <pre>{@code
 * graft: 1
 * name: lab
 * gpus:
 *   - {name: gpu0, device: software}
 * guests:
 *   - name: alice
 *     image: debian-12.qcow2
 *     memory: 1GiB
 *     vgpu: gpu0
 * }</pre>
 */
@Doc("A host, its GPUs and fabric, and the guests that use them.")
public record Descriptor(
    @Key("graft") @Range(min = 1, max = 1) @Doc("The version of the descriptor's form: 1.")
        int version,
    @Doc("What this set-up is called on the host. The file's name without its ending if absent.")
        Optional<Name> name,
    @Default("auto")
        @Doc(
            "Which hypervisor runs the guests. auto: KVM where it works, Xen in its dom0, else QEMU.")
        HypervisorChoice hypervisor,
    @Default("auto")
        @Doc("This machine's libvirt. auto: the system's daemon if it answers, else the session's.")
        LibvirtUri libvirt,
    @Doc("The GPUs that guests use, wherever they are.") List<Gpu> gpus,
    @Doc("The InfiniBand and RoCE adapters of this host.") Optional<Fabric> fabric,
    @Doc("libvirt networks that Graft makes. Networks that exist need no entry.")
        List<Network> networks,
    @Doc("Other machines that serve GPUs.") List<Node> nodes,
    @Doc("The guests.") List<Guest> guests) {

  /** The name of the set-up; a reader always gives one. */
  public Name deploymentName() {
    return name.orElseThrow();
  }

  /** Whether any of it is about devices of the host and where they are. */
  public boolean usesDevices() {
    return fabric.isPresent()
        || gpus.stream().anyMatch(gpu -> gpu.owner().kind() == Owner.Kind.GUEST)
        || guests.stream().anyMatch(Guest::usesDevices);
  }

  /** The GPU of that name. */
  public Optional<Gpu> gpu(Name wanted) {
    return gpus.stream().filter(g -> wanted.equals(g.name())).findFirst();
  }

  /** The guest of that name. */
  public Optional<Guest> guest(Name wanted) {
    return guests.stream().filter(g -> wanted.equals(g.name())).findFirst();
  }

  /** The same with another guest in the place of one. */
  public Descriptor with(Guest before, Guest after) {
    List<Guest> changed = guests.stream().map(g -> g.equals(before) ? after : g).toList();
    return new Descriptor(
        version, name, hypervisor, libvirt, gpus, fabric, networks, nodes, changed);
  }

  /** The network of that name, if this descriptor defines it. */
  public Optional<Network> network(Name wanted) {
    return networks.stream().filter(n -> wanted.equals(n.name())).findFirst();
  }
}
