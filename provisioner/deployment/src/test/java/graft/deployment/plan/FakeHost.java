package graft.deployment.plan;

import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.ConnectionFacts;
import graft.deployment.observe.ContainerFacts;
import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.DomainFacts;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.GpuFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.HostFacts;
import graft.deployment.observe.InstallFacts;
import graft.deployment.observe.LibvirtFacts;
import graft.deployment.observe.MachineFacts;
import graft.deployment.observe.NetworkFacts;
import graft.deployment.observe.ServiceFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.Layout;
import graft.deployment.state.SshKeys;
import graft.deployment.state.StateFolder;
import graft.deployment.state.SubordinateIds;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.guest.BuildInitramfs;
import graft.deployment.step.guest.BuildSeed;
import graft.deployment.step.guest.CopyFile;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.GrowDisk;
import graft.deployment.step.guest.MakeFolder;
import graft.deployment.step.guest.MakeRegion;
import graft.deployment.step.guest.MakeRoot;
import graft.deployment.step.guest.MakeSshKeys;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.guest.RegisterUsers;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.host.DefineNetwork;
import graft.deployment.step.host.HostServer;
import graft.deployment.step.host.MakeServerUser;
import graft.deployment.step.host.MakeSocketFolder;
import graft.deployment.step.host.MakeUnit;
import graft.deployment.step.host.RaiseGrantLimit;
import graft.deployment.step.host.StartClosedNetwork;
import graft.deployment.step.host.StartNetwork;
import graft.guests.bundle.Bundles;
import graft.guests.bundle.FoundBundle;
import graft.guests.bundle.TreeFile;
import graft.guests.container.RootSource;
import graft.guests.machine.MachineReport;
import graft.guests.payload.FileStamp;
import graft.hypervisors.kvm.KvmHypervisor;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.capabilities.GuestArchitecture;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.Version;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.lxc.LxcHypervisor;
import graft.hypervisors.xen.XenHypervisor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** A host that exists only as what would be seen of it, and changes as a plan would change it. */
final class FakeHost {
  static final String SETUP = "lab";

  private final Map<Path, FileFacts> files = new LinkedHashMap<>();
  private final Set<Path> folders = new LinkedHashSet<>();
  private final Set<Path> servers = new LinkedHashSet<>();
  private final Set<Integer> listening = new LinkedHashSet<>();
  private final Map<Path, Map<String, String>> grants = new LinkedHashMap<>();
  private final Map<String, GuestFacts> guests = new LinkedHashMap<>();
  private final Map<String, NetworkFacts> networks = new LinkedHashMap<>();
  private final Map<String, Entry> journal = new LinkedHashMap<>();
  private final Map<String, JournalState> others = new LinkedHashMap<>();
  private final Map<Path, List<TreeFile>> trees = new LinkedHashMap<>();
  private final Set<String> programs = new LinkedHashSet<>(List.of("dnsmasq"));
  private final Map<Name, ConnectionFacts> connection = new LinkedHashMap<>();
  private final Map<String, ChannelMeasurement> channels = new LinkedHashMap<>();
  private final Map<String, MachineFacts> machines = new LinkedHashMap<>();
  private String uri = "qemu:///system";
  private String error = "";
  private long memory = 4L << 30;
  private long sharedMemory = 1L << 30;
  private boolean vsock;
  private boolean ucx;
  private String nvidia = "";
  private HostFacts.PageGrants pages = HostFacts.PageGrants.NONE;
  private boolean root = true;
  private String noClosedNetwork = "";
  private boolean cleanTraffic = true;
  private boolean systemd;
  private boolean serverUser;
  private final Map<String, String> units = new LinkedHashMap<>();
  private DeviceFacts devices = DeviceFacts.NONE;
  private final Map<Path, RootSource> roots = new LinkedHashMap<>();
  private final List<Boot.IdRange> taken = new ArrayList<>();
  private final Set<String> registered = new LinkedHashSet<>();
  private final List<GpuFacts> gpus = new ArrayList<>();
  private long run;
  private Hypervisor hypervisor = new KvmHypervisor();
  private Optional<Long> guestMemory = Optional.empty();

  /** 2 CPUs, 4 GiB, emulation only, a default network, the client built. */
  FakeHost() {
    network("default", true, "192.168.122.1");
    for (String name :
        List.of("graft-oci-hook", "graft-verify", "libcuda.so.1", "libnvidia-ml.so.1")) {
      tree(Path.of("/opt/graft/lib/client", name));
    }
  }

  private void tree(Path path) {
    trees.put(path, List.of(new TreeFile(new FileStamp(path, 100, 1000), "", false)));
  }

  /** Graft's own files, as the server's bundle takes them. */
  FakeHost distribution() {
    for (String name :
        List.of("bin/graft", "runtime", "lib/launcher", "lib/graft-jail", "lib/graft-starter")) {
      tree(Path.of("/opt/graft", name));
    }
    Path jar = Path.of("/opt/graft/lib/graft.jar");
    trees.put(
        Path.of("/opt/graft/lib"),
        List.of(new TreeFile(new FileStamp(jar, 100, 1000), "/graft.jar", false)));
    return this;
  }

  FakeHost ucx() {
    ucx = true;
    return this;
  }

  FakeHost devices(DeviceFacts seen) {
    devices = seen;
    return this;
  }

  FakeHost vsock() {
    vsock = true;
    return this;
  }

  /** The hypervisor looks at the device too, under the folder. */
  FakeHost vsock(Path folder) throws IOException {
    Files.createFile(Files.createDirectories(folder.resolve("dev")).resolve("vhost-vsock"));
    hypervisor = KvmHypervisor.under(folder);
    return vsock();
  }

  /** With NVIDIA's driver, which shows such a GPU as its next one. */
  FakeHost gpu(String name, String memory) {
    nvidia = "580.159.04";
    gpus.add(
        new GpuFacts(
            gpus.size(), name, MemorySize.parse(memory).bytes(), OptionalInt.of(gpus.size())));
    return this;
  }

  FakeHost program(String name) {
    programs.add(name);
    return this;
  }

  /** A guest that runs, and what answers in it. */
  FakeHost answers(String guest, boolean agent, boolean ssh) {
    connection.put(new Name(guest), new ConnectionFacts(agent, ssh));
    return this;
  }

  /** A machine that exists already: what SSH finds, and this host's address on the way to it. */
  FakeHost machine(String guest, MachineReport report, String listen) {
    machines.put(
        guest, new MachineFacts(Optional.of(report), "", "", listen, "us", true, Optional.empty()));
    return this;
  }

  /** A domain that somebody else made; what runs in it looks like the machine of the report. */
  FakeHost domain(String guest, DomainFacts domain, Optional<MachineReport> report, String listen) {
    machines.put(guest, new MachineFacts(report, "", "", listen, "us", true, Optional.of(domain)));
    return this;
  }

  /** libvirt has no such domain. */
  FakeHost noDomain(String guest) {
    machines.put(
        guest, new MachineFacts(Optional.empty(), "", "", "", "us", false, Optional.empty()));
    return this;
  }

  /** What graft verify --channels kept of a guest. */
  FakeHost measured(String guest, ChannelMeasurement measured) {
    channels.put(guest, measured);
    return this;
  }

  /** The steps that a guest stands on. */
  List<Step> steps(String guest) {
    return journal.values().stream()
        .map(Entry::step)
        .filter(step -> step.chain().equals(Chain.guest(guest)))
        .toList();
  }

  FakeHost file(String path) {
    files.put(Path.of(path), new FileFacts(1000, 2000, true, path.endsWith(".qcow2"), true));
    return this;
  }

  /** A file for a token, which cannot be used for the reason. */
  FakeHost tokenFile(String path, String problem) {
    files.put(Path.of(path), new FileFacts(64, 2000, true, false, true, 64, problem));
    return this;
  }

  FakeHost without(String program) {
    programs.remove(program);
    return this;
  }

  /** A qcow2 image of a disk of this size. */
  FakeHost disk(String path, String size) {
    long bytes = MemorySize.parse(size).bytes();
    files.put(Path.of(path), new FileFacts(1000, 2000, true, true, true, bytes, ""));
    return this;
  }

  FakeHost privateFile(String path) {
    files.put(Path.of(path), new FileFacts(1000, 2000, true, path.endsWith(".qcow2"), false));
    return this;
  }

  FakeHost touched(String path) {
    files.put(Path.of(path), new FileFacts(1000, 3000, true, path.endsWith(".qcow2"), true));
    return this;
  }

  FakeHost network(String name, boolean active, String address) {
    networks.put(name, new NetworkFacts(name, active, address, true));
    return this;
  }

  /** A network that is connected by macvtap, where libvirt cannot filter. */
  FakeHost macvtap(String name) {
    networks.put(name, new NetworkFacts(name, true, "", false));
    return this;
  }

  FakeHost withoutClosedNetworks(String why) {
    noClosedNetwork = why;
    return this;
  }

  FakeHost withoutFilters() {
    cleanTraffic = false;
    return this;
  }

  FakeHost withFilters() {
    cleanTraffic = true;
    return this;
  }

  FakeHost networkDied() {
    servers.removeIf(pidFile -> pidFile.toString().contains(".network."));
    return this;
  }

  /**
   * Under Xen, with 2 GiB left for guests.
   *
   * @param capabilities of xl info's virt_caps
   */
  FakeHost xen(String capabilities) {
    hypervisor =
        XenHypervisor.saying("xen_version : 4.17.5\nvirt_caps : " + capabilities + "\n", true);
    uri = "xen:///system";
    guestMemory = Optional.of(2L << 30);
    return this;
  }

  /** With libvirt's LXC driver, and a root file system for containers in {@code /d/root.cpio}. */
  FakeHost lxc() {
    hypervisor = new LxcHypervisor();
    uri = "lxc:///system";
    return root("/d/root.cpio", new RootSource("/init", "", ""));
  }

  FakeHost root(String path, RootSource found) {
    roots.put(Path.of(path), found);
    return file(path);
  }

  /** Users of containers are registered in one of the two files only, or for somebody else. */
  FakeHost notRegistered() {
    registered.clear();
    return this;
  }

  /** A step was begun and failed. */
  FakeHost failed(Step step) {
    journal.put(step.id(), new Entry(step, run, Entry.Status.FAILED, Map.of(), Map.of()));
    return this;
  }

  /** There is a folder. */
  FakeHost folder(String path) {
    folders.add(Path.of(path));
    return this;
  }

  /** Somebody has users of containers. */
  FakeHost taken(long first, long count) {
    taken.add(new Boot.IdRange(first, count));
    return this;
  }

  /** Processes may share pages with guests of Xen: so many by the kernel's own limit. */
  FakeHost gntalloc() {
    pages = new HostFacts.PageGrants(true, true, 1024);
    return this;
  }

  FakeHost withoutEventChannels() {
    pages = new HostFacts.PageGrants(true, false, 1024);
    return this;
  }

  FakeHost listening(int port) {
    listening.add(port);
    return this;
  }

  FakeHost guest(String name, String deployment) {
    UUID uuid = UUID.nameUUIDFromBytes(new byte[] {1});
    guests.put(
        name, new GuestFacts(name, uuid, true, true, deployment, "running", Set.of(), Set.of()));
    return this;
  }

  FakeHost memory(long bytes) {
    memory = bytes;
    return this;
  }

  FakeHost sharedMemory(long bytes) {
    sharedMemory = bytes;
    return this;
  }

  FakeHost systemd() {
    systemd = true;
    return this;
  }

  /** An administrator changes each unit. */
  FakeHost unitsEdited() {
    units.replaceAll((name, text) -> text + "# mine\n");
    return this;
  }

  FakeHost notRoot() {
    root = false;
    return this;
  }

  /** Another user than root, with a libvirt of that user's. */
  FakeHost session() {
    uri = "qemu:///session";
    return notRoot();
  }

  FakeHost unreachable(String why) {
    error = why;
    return this;
  }

  FakeHost withoutClient() {
    trees.clear();
    return this;
  }

  FakeHost off(String guest) {
    return seen(guest, "shut off", Optional.empty());
  }

  FakeHost paused(String guest) {
    return seen(guest, "paused", Optional.empty());
  }

  /** What libvirt would start the guest with next is another definition than Graft's. */
  FakeHost redefined(String guest, DefinitionFacts definition) {
    return seen(guest, "running", Optional.of(definition));
  }

  private FakeHost seen(String guest, String state, Optional<DefinitionFacts> definition) {
    GuestFacts was = guests.get(guest);
    guests.put(
        guest,
        new GuestFacts(
            guest,
            was.uuid(),
            !state.equals("shut off"),
            true,
            was.deployment(),
            state,
            Set.of(),
            Set.of(),
            definition));
    return this;
  }

  FakeHost serverDied() {
    servers.removeIf(pidFile -> !pidFile.toString().contains(".network."));
    return this;
  }

  /** The plan for a descriptor that lies in {@code /d/lab.yaml}. */
  Plan plan(String descriptor) throws InvalidDescriptorException {
    return Planner.plan(input(descriptor));
  }

  /** What that plan follows from. */
  PlanInput input(String descriptor) throws InvalidDescriptorException {
    DescriptorFile file = DescriptorReader.read(Path.of("/d/lab.yaml"), descriptor);
    StateFolder state =
        new StateFolder(file.descriptor().deploymentName(), Path.of("/var/lib/graft", SETUP));
    return new PlanInput(
            file,
            snapshot(file),
            new JournalState(journal, run, "/d/lab.yaml", uri),
            Layout.of(state, root),
            hypervisor)
        .beside(others);
  }

  /** Lets what has been carried out so far be another deployment's. */
  FakeHost isOther(String deployment) {
    others.put(deployment, new JournalState(journal, run, "/d/" + deployment + ".yaml", uri));
    journal.clear();
    return this;
  }

  private Snapshot snapshot(DescriptorFile file) {
    LibvirtFacts libvirt =
        error.isEmpty()
            ? new LibvirtFacts(
                uri,
                "",
                Optional.of(capabilities()),
                guestMemory,
                List.copyOf(guests.values()),
                List.copyOf(networks.values()),
                cleanTraffic)
            : LibvirtFacts.unreachable(uri, error);
    return new Snapshot(
        new HostFacts(
            2, memory, memory, sharedMemory, vsock, ucx, root, nvidia, pages, noClosedNetwork),
        libvirt,
        files,
        folders,
        listening,
        servers,
        grants,
        setup(file),
        devices,
        channels,
        new ServiceFacts(systemd, serverUser, units),
        machines,
        new ContainerFacts(roots, taken, registered),
        gpus);
  }

  /** The bundles that are built in. */
  private InstallFacts setup(DescriptorFile file) {
    Map<Name, FoundBundle> found = new LinkedHashMap<>();
    Map<Name, String> wrong = new LinkedHashMap<>();
    Bundles bundles = Bundles.near(Path.of("/d"));
    Set<Name> names = new LinkedHashSet<>(List.of(Bundles.CLIENT, Bundles.SERVER));
    file.descriptor()
        .guests()
        .forEach(guest -> guest.setup().bundles().forEach(use -> names.add(use.name())));
    for (Name name : names) {
      bundles
          .find(name)
          .ifPresentOrElse(
              bundle -> found.put(name, bundle),
              () -> wrong.put(name, "there is no bundle '" + name + "'"));
    }
    Path home = Path.of("/opt/graft");
    return new InstallFacts(
        home.resolve("lib/client"), home, found, wrong, trees, programs, connection);
  }

  private HostCapabilities capabilities() {
    boolean xen = uri.startsWith("xen");
    boolean lxc = uri.startsWith("lxc");
    return new HostCapabilities(
        graft.hypervisors.libvirt.calls.LibvirtUri.parse(uri),
        "host",
        xen ? "Xen" : lxc ? "LXC" : "QEMU",
        Optional.of(new Version(7, 2, 0)),
        new Version(9, 0, 0),
        "x86_64",
        2,
        new MemorySize(memory),
        List.of(),
        false,
        Stream.of(xen ? new String[] {"xen", "hvm", "xenpvh"} : new String[] {lxc ? "exe" : "hvm"})
            .map(
                type ->
                    new GuestArchitecture(
                        type,
                        "x86_64",
                        Optional.of("/usr/bin/qemu-system-x86_64"),
                        xen ? List.of() : List.of("q35"),
                        Set.of(xen ? "xen" : lxc ? "lxc" : "qemu")))
            .toList());
  }

  /** Changes what is seen as the plan's steps would, and what the journal says. */
  FakeHost carryOut(Plan plan) {
    run++;
    for (Action action : plan.actions()) {
      Step step = action.step();
      if (action.kind() == Action.Kind.UNDO) {
        journal.remove(step.id());
        if (step instanceof CreateDisk disk) {
          files.remove(disk.target());
        }
      } else {
        journal.put(step.id(), new Entry(step, run, Entry.Status.DONE, Map.of(), Map.of()));
        see(step);
      }
    }
    return this;
  }

  private void see(Step step) {
    if (step instanceof MakeToken token) {
      file(token.token().toString());
    } else if (step instanceof GrantAccess access) {
      grants
          .computeIfAbsent(access.tokens(), t -> new LinkedHashMap<>())
          .put(access.guest(), access.settings());
    } else if (step instanceof MakeRegion region) {
      long bytes = region.size().bytes();
      files.put(region.file(), new FileFacts(bytes, 2000, true, false, true));
      sharedMemory -= bytes;
    } else if (step instanceof MakeSshKeys keys) {
      file(new SshKeys(keys.folder()).knownHosts().toString());
    } else if (step instanceof RegisterUsers users) {
      taken.add(users.ids());
      registered.add(SubordinateIds.line(users.owner(), users.ids()));
    } else if (step instanceof MakeRoot made) {
      folders.add(made.folder());
    } else if (step instanceof MakeSocketFolder socket) {
      folders.add(socket.folder());
    } else if (step instanceof MakeFolder folder) {
      folders.add(folder.folder());
    } else if (step instanceof CopyFile copy) {
      file(copy.target().toString());
    } else if (step instanceof BuildInitramfs initramfs) {
      file(initramfs.target().toString());
    } else if (step instanceof BuildSeed seed) {
      file(seed.target().toString());
    } else if (step instanceof CreateDisk disk) {
      file(disk.target().toString());
      disk.size().ifPresent(size -> disk(disk.target().toString(), size.toString()));
    } else if (step instanceof GrowDisk grow) {
      disk(grow.target().toString(), grow.size().toString());
    } else if (step instanceof DefineGuest define) {
      guests.put(
          define.guest(),
          new GuestFacts(
              define.guest(),
              UUID.fromString(define.uuid()),
              false,
              true,
              SETUP,
              "shut off",
              Set.of(),
              Set.of()));
    } else if (step instanceof StartGuest start) {
      guests.put(
          start.guest(),
          new GuestFacts(
              start.guest(),
              UUID.fromString(start.uuid()),
              true,
              true,
              SETUP,
              "running",
              Set.of(),
              Set.of()));
    } else if (step instanceof MakeServerUser) {
      serverUser = true;
    } else if (step instanceof MakeUnit unit) {
      units.put(unit.unit(), unit.text());
    } else if (step instanceof HostServer server) {
      servers.add(server.pidFile());
      server.listen().forEach(endpoint -> listening.add(endpoint.port()));
    } else if (step instanceof StartClosedNetwork network) {
      servers.add(network.pidFile());
      listening.add(network.port());
    } else if (step instanceof RaiseGrantLimit) {
      pages = new HostFacts.PageGrants(pages.gntalloc(), pages.evtchn(), RaiseGrantLimit.ENOUGH);
    } else if (step instanceof DefineNetwork network) {
      network(network.network(), false, "");
    } else if (step instanceof StartNetwork network) {
      network(network.network(), true, "192.168.150.1");
    }
  }
}
