package graft.hypervisors.libvirt.domain;

import graft.common.values.MemorySize;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A whole guest, described in terms that all hypervisors share. Planning compares the guest with
 * the hypervisor's features; the spec itself does not.
 *
 * @param uuid the guest's UUID; libvirt chooses one if absent
 * @param cpus the number of virtual CPUs
 * @param virtualization the kind of virtualization
 * @param memory the guest's memory, both at its start and at most
 * @param hideHypervisor whether the guest cannot detect that it is virtualized; some drivers
 *     require this
 * @param pciWindow the address space that UEFI reserves for the registers of PCI devices; if
 *     absent, UEFI's own choice, which is too small for a GPU that maps all of its memory
 * @param spareSlots the number of devices that can be attached to the running guest
 * @param onReboot the action when the guest reboots itself; power-off and crash always destroy the
 *     guest
 */
public record DomainSpec(
    String name,
    Optional<UUID> uuid,
    int cpus,
    MemorySize memory,
    boolean variableMemory,
    Virtualization virtualization,
    Boot boot,
    Optional<MemoryBacking> memoryBacking,
    Optional<NumaTune> numaTune,
    Optional<CpuTune> cpuTune,
    boolean hideHypervisor,
    Optional<MemorySize> pciWindow,
    int spareSlots,
    LifecycleAction onReboot,
    List<DiskSpec> disks,
    List<InterfaceSpec> interfaces,
    List<HostdevSpec> hostdevs,
    List<ShmemSpec> sharedMemory,
    Optional<VsockSpec> vsock,
    Optional<SerialSpec> serial,
    List<ChannelSpec> channels,
    Optional<GuestMetadata> metadata) {

  public DomainSpec {
    Checks.name("guest", name);
    Checks.positive("cpus of guest '" + name + "'", cpus);
    Checks.positive("memory of guest '" + name + "'", memory.bytes());
    disks = List.copyOf(disks);
    interfaces = List.copyOf(interfaces);
    hostdevs = List.copyOf(hostdevs);
    sharedMemory = List.copyOf(sharedMemory);
    channels = List.copyOf(channels);
    if (boot instanceof Boot.FromDisk && disks.isEmpty()) {
      throw new IllegalArgumentException(
          "guest '" + name + "' boots from disk but has none: give it a disk or a kernel");
    }
    if (hostdevs.stream().distinct().count() < hostdevs.size()) {
      throw new IllegalArgumentException("guest '" + name + "' names a PCI device twice");
    }
    for (int vcpu : cpuTune.map(tune -> tune.pins().keySet()).orElse(Set.of())) {
      if (vcpu >= cpus) {
        throw new IllegalArgumentException(
            "guest '" + name + "' pins virtual CPU " + vcpu + " but has only " + cpus);
      }
    }
  }

  /** Creates a builder with 1 CPU, 512 MiB, boot from disk by BIOS and no devices. */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /** Collects the parts of a {@link DomainSpec}. */
  public static final class Builder {
    private final String name;
    private Optional<UUID> uuid = Optional.empty();
    private int cpus = 1;
    private MemorySize memory = MemorySize.ofMib(512);
    private boolean variableMemory;
    private Virtualization virtualization = Virtualization.HVM;
    private Boot boot = new Boot.FromDisk(Boot.Firmware.BIOS);
    private Optional<MemoryBacking> memoryBacking = Optional.empty();
    private Optional<NumaTune> numaTune = Optional.empty();
    private Optional<CpuTune> cpuTune = Optional.empty();
    private boolean hideHypervisor;
    private Optional<MemorySize> pciWindow = Optional.empty();
    private int spareSlots;
    private LifecycleAction onReboot = LifecycleAction.RESTART;
    private final List<DiskSpec> disks = new ArrayList<>();
    private final List<InterfaceSpec> interfaces = new ArrayList<>();
    private final List<HostdevSpec> hostdevs = new ArrayList<>();
    private final List<ShmemSpec> sharedMemory = new ArrayList<>();
    private Optional<VsockSpec> vsock = Optional.empty();
    private Optional<SerialSpec> serial = Optional.empty();
    private final List<ChannelSpec> channels = new ArrayList<>();
    private Optional<GuestMetadata> metadata = Optional.empty();

    private Builder(String name) {
      this.name = name;
    }

    public Builder uuid(UUID value) {
      uuid = Optional.of(value);
      return this;
    }

    public Builder cpus(int value) {
      cpus = value;
      return this;
    }

    public Builder memory(MemorySize value) {
      memory = value;
      return this;
    }

    /** The memory that the guest can get while it runs; how much it has now is set apart. */
    public Builder maxMemory(MemorySize value) {
      memory = value;
      variableMemory = true;
      return this;
    }

    public Builder virtualization(Virtualization value) {
      virtualization = value;
      return this;
    }

    public Builder boot(Boot value) {
      boot = value;
      return this;
    }

    public Builder memoryBacking(MemoryBacking value) {
      memoryBacking = Optional.of(value);
      return this;
    }

    public Builder numaTune(NumaTune value) {
      numaTune = Optional.of(value);
      return this;
    }

    public Builder cpuTune(CpuTune value) {
      cpuTune = Optional.of(value);
      return this;
    }

    public Builder hideHypervisor(boolean value) {
      hideHypervisor = value;
      return this;
    }

    public Builder pciWindow(Optional<MemorySize> value) {
      pciWindow = value;
      return this;
    }

    public Builder spareSlots(int value) {
      spareSlots = value;
      return this;
    }

    public Builder onReboot(LifecycleAction value) {
      onReboot = value;
      return this;
    }

    /** Adds a disk. The guest sees its disks in the order of these calls. */
    public Builder disk(DiskSpec value) {
      disks.add(value);
      return this;
    }

    /** Adds an interface. The guest sees its interfaces in the order of these calls. */
    public Builder networkInterface(InterfaceSpec value) {
      interfaces.add(value);
      return this;
    }

    public Builder hostdev(HostdevSpec value) {
      hostdevs.add(value);
      return this;
    }

    public Builder sharedMemory(ShmemSpec value) {
      sharedMemory.add(value);
      return this;
    }

    public Builder vsock(VsockSpec value) {
      vsock = Optional.of(value);
      return this;
    }

    public Builder serial(SerialSpec value) {
      serial = Optional.of(value);
      return this;
    }

    public Builder channel(ChannelSpec value) {
      channels.add(value);
      return this;
    }

    public Builder metadata(GuestMetadata value) {
      metadata = Optional.of(value);
      return this;
    }

    /**
     * Builds the spec.
     *
     * @throws IllegalArgumentException if the parts do not fit together
     */
    public DomainSpec build() {
      return new DomainSpec(
          name,
          uuid,
          cpus,
          memory,
          variableMemory,
          virtualization,
          boot,
          memoryBacking,
          numaTune,
          cpuTune,
          hideHypervisor,
          pciWindow,
          spareSlots,
          onReboot,
          disks,
          interfaces,
          hostdevs,
          sharedMemory,
          vsock,
          serial,
          channels,
          metadata);
    }
  }
}
