package graft.deployment.descriptor;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Key;
import graft.common.bind.Range;
import graft.common.values.Name;
import graft.deployment.descriptor.fabric.Fabric;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.OnFailure;
import graft.deployment.descriptor.hosts.RemoteGuest;
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
    @Key("graft") @Range(min = 1, max = 1) @Doc("The version of the descriptor format: 1.")
        int version,
    @Doc("The name of the deployment. If absent, the name of the file without its extension.")
        Optional<Name> name,
    @Default("auto")
        @Doc(
            "The hypervisor that runs the guests. auto: KVM where it works, Xen in its dom0, else"
                + " QEMU; never lxc.")
        HypervisorChoice hypervisor,
    @Default("auto")
        @Doc(
            "The URI of libvirt on this machine. auto: the system daemon if it answers, else the"
                + " session daemon. A URI such as qemu+ssh://USER@HOST/system names the one host of"
                + " the deployment, on which Graft runs itself by SSH.")
        LibvirtUri libvirt,
    @Default("false")
        @Doc(
            "Whether it is applied again when the host boots, where systemd starts services, so"
                + " that its guests and networks start by themselves. A host with adapters in the"
                + " fabric does so unless the fabric is not persistent. Servers have an autostart"
                + " of their own.")
        boolean autostart,
    @Doc("The GPUs that guests use, on this host or elsewhere.") List<Gpu> gpus,
    @Doc("The InfiniBand and RoCE adapters of this host.") Optional<Fabric> fabric,
    @Doc("libvirt networks that Graft creates. Existing networks need no entry.")
        List<Network> networks,
    @Doc("Other machines that serve GPUs.") List<Node> nodes,
    @Doc("The guests.") List<Guest> guests,
    @Doc("Guests of other hosts that use GPUs of this one.") List<RemoteGuest> remoteGuests,
    @Doc(
            "The hosts of a deployment over many hosts, each of which gets the objects with its"
                + " name as 'host'; a single host gets all objects. If absent, this machine is the"
                + " host.")
        List<Host> hosts,
    @Default("stop")
        @Doc(
            "With hosts, what a host on which apply failed means for the others. stop: no other"
                + " host begins, and those at work are interrupted; wait: no other host begins, and"
                + " those at work come to their end; leave: the others go on, but for those that"
                + " use its GPUs.")
        OnFailure onFailure,
    @Default("8")
        @Range(min = 1, max = 256)
        @Doc("With hosts, the most hosts that are changed at one time.")
        int parallel) {

  /** The most hosts that are changed at one time, if the descriptor does not say. */
  public static final int DEFAULT_PARALLEL = 8;

  /** The name of the deployment, which a descriptor that was read always has. */
  public Name deploymentName() {
    return name.orElseThrow();
  }

  /** Whether it needs libvirt; machines that exist already and that SSH reaches do not. */
  public boolean usesLibvirt() {
    return !networks.isEmpty()
        || (guests.isEmpty() && remoteGuests.isEmpty())
        || guests.stream().anyMatch(guest -> guest.existing().flatMap(Existing::ssh).isEmpty());
  }

  /** Whether it names devices of the host, a placement on the host, or what is done at its boot. */
  public boolean usesDevices() {
    return autostart
        || fabric.isPresent()
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

  /** The guests of other hosts that use a GPU. */
  public List<RemoteGuest> remoteGuests(Gpu gpu) {
    return remoteGuests.stream().filter(one -> one.vgpu().gpu().equals(gpu.name())).toList();
  }

  /** A copy with one guest replaced. */
  public Descriptor with(Guest before, Guest after) {
    return withGuests(guests.stream().map(g -> g.equals(before) ? after : g).toList());
  }

  /** A copy with other guests. */
  public Descriptor withGuests(List<Guest> changed) {
    return copy(name, hypervisor, libvirt, changed, hosts);
  }

  /** A copy with another name and another hypervisor. */
  public Descriptor with(Optional<Name> named, HypervisorChoice choice) {
    return copy(named, choice, libvirt, guests, hosts);
  }

  /** A copy with other hosts. */
  public Descriptor withHosts(List<Host> given) {
    return copy(name, hypervisor, libvirt, guests, given);
  }

  /** A copy with one host, whose libvirt is used. */
  Descriptor at(Host host) {
    return copy(name, hypervisor, LibvirtUri.parse("auto"), guests, List.of(host));
  }

  private Descriptor copy(
      Optional<Name> named,
      HypervisorChoice choice,
      LibvirtUri daemon,
      List<Guest> itsGuests,
      List<Host> itsHosts) {
    return new Descriptor(
        version,
        named,
        choice,
        daemon,
        autostart,
        gpus,
        fabric,
        networks,
        nodes,
        itsGuests,
        remoteGuests,
        itsHosts,
        onFailure,
        parallel);
  }

  /**
   * What this descriptor has on one of its hosts, as a descriptor of that host alone.
   *
   * @param host whose URI, if it is reached by one, chooses the hypervisor
   */
  Descriptor onHost(
      Host host,
      List<Gpu> itsGpus,
      Optional<Fabric> itsFabric,
      List<Network> itsNetworks,
      List<Node> itsNodes,
      List<Guest> itsGuests,
      List<RemoteGuest> others) {
    return new Descriptor(
        version,
        name,
        host.ssh().libvirt().map(uri -> hypervisor.with(uri.driver())).orElse(hypervisor),
        host.ssh().libvirt().map(uri -> LibvirtUri.parse(uri.toString())).orElse(libvirt),
        autostart,
        itsGpus,
        itsFabric,
        itsNetworks,
        itsNodes,
        itsGuests,
        others,
        List.of(),
        OnFailure.STOP,
        DEFAULT_PARALLEL);
  }

  /** Whether plan chooses a GPU for some guest. */
  public boolean choosesGpus() {
    return guests.stream().flatMap(guest -> guest.vgpus().stream()).anyMatch(VGpu::isAny);
  }

  /** The network of that name, if this descriptor defines it. */
  public Optional<Network> network(Name wanted) {
    return networks.stream().filter(n -> wanted.equals(n.name())).findFirst();
  }
}
