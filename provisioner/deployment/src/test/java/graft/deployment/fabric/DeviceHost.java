package graft.deployment.fabric;

import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.apply.Applier;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.apply.Undoer;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.observe.ContainerFacts;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.DeviceObserver;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.HostFacts;
import graft.deployment.observe.InstallFacts;
import graft.deployment.observe.LibvirtFacts;
import graft.deployment.observe.ServiceFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.plan.PlanInput;
import graft.deployment.plan.Planner;
import graft.deployment.state.DeviceClaims;
import graft.deployment.state.Layout;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.device.AttachInterfaces;
import graft.guests.container.RootSource;
import graft.hypervisors.kvm.KvmHypervisor;
import graft.hypervisors.libvirt.Hypervisor;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.capabilities.GuestArchitecture;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.Version;
import graft.hypervisors.lxc.LxcHypervisor;
import graft.hypervisors.xen.XenHypervisor;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A host whose devices behave, with the provisioner's own plan, journal, apply and undo. Its
 * libvirt only says what the test wants: of a plan's steps those on devices are carried out.
 */
final class DeviceHost {
  /** 64 CPUs and 1 TiB. */
  static final HostFacts ROOMY =
      new HostFacts(
          64, 1L << 40, 1L << 40, 1L << 30, false, false, true, "", HostFacts.PageGrants.NONE, "");

  /** No guest gets anything, and libvirt can make networks. */
  private static final InstallFacts INSTALLS =
      new InstallFacts(
          Path.of("/"), Path.of("/"), Map.of(), Map.of(), Map.of(), Set.of("dnsmasq"), Map.of());

  private static final Path IMAGE = Path.of("/d/debian.qcow2");

  final FakeSysfs fake;
  final HostAccess access;
  private final Path state;
  private Hypervisor hypervisor;
  private String uri = "qemu:///system";
  private final List<GuestFacts> guests = new ArrayList<>();
  private boolean root = true;
  private ContainerFacts containers = ContainerFacts.NONE;

  DeviceHost(Path folder) {
    this(folder, access -> access);
  }

  /** With something between the steps and the host. */
  DeviceHost(Path folder, UnaryOperator<HostAccess> between) {
    this.state = folder.resolve("state");
    hypervisor = machine(folder);
    fake = new FakeSysfs(folder.resolve("host"));
    fake.loadDriver("vfio-pci").file("/proc/sys/kernel/random/boot_id", "first");
    access = between.apply(new HostAccess(fake, fake.links(), TimeLimits.DEFAULT));
  }

  /** One that is only looked at. */
  DeviceHost(Path folder, HostAccess access) {
    this.state = folder.resolve("state");
    this.hypervisor = machine(folder);
    this.fake = null;
    this.access = access;
  }

  /** KVM on a machine that has UEFI images, whatever is installed on this one. */
  private static KvmHypervisor machine(Path folder) {
    Path root = folder.resolve("machine");
    try {
      Path images = Files.createDirectories(root.resolve("usr/share/qemu/firmware"));
      Files.writeString(images.resolve("60-edk2-x86_64.json"), "{}");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return KvmHypervisor.under(root);
  }

  /**
   * In Xen's dom0 instead.
   *
   * @param info what {@code xl info -n} prints
   */
  DeviceHost xen(String info) {
    hypervisor = XenHypervisor.saying(info, true);
    uri = "xen:///system";
    fake.loadDriver("pciback");
    return this;
  }

  /** With libvirt's LXC driver instead. */
  DeviceHost lxc() {
    hypervisor = new LxcHypervisor();
    uri = "lxc:///system";
    containers =
        new ContainerFacts(
            Map.of(Path.of("/d/root.tar"), new RootSource("/sbin/init", "", "")),
            List.of(),
            Set.of());
    return this;
  }

  /** An ordinary user's own libvirt daemon instead. */
  DeviceHost session() {
    uri = "qemu:///session";
    return notRoot();
  }

  DeviceHost notRoot() {
    root = false;
    return this;
  }

  /** A guest that Graft did not make, with devices. */
  DeviceHost foreignGuest(String name, String... devices) {
    UUID uuid = UUID.nameUUIDFromBytes(name.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    guests.add(
        new GuestFacts(name, uuid, true, true, "", "running", Set.of(devices), Set.of(devices)));
    return this;
  }

  /** A guest that a deployment made, with what its definition has of the host. */
  DeviceHost ownGuest(String deployment, String name, boolean running, String... attached) {
    UUID uuid = Identities.uuid(deployment, name);
    guests.removeIf(guest -> guest.name().equals(name));
    String state = running ? "running" : "shut off";
    Set<String> has = Set.of(attached);
    guests.add(new GuestFacts(name, uuid, running, true, deployment, state, has, has));
    return this;
  }

  /** The plan of a descriptor. */
  Plan plan(String descriptor) throws InvalidDescriptorException {
    return plan(DescriptorReader.read(Path.of("/d/lab.yaml"), descriptor));
  }

  Plan plan(DescriptorFile file) {
    return plan(file, Optional.empty());
  }

  /** The devices, to plan several times by one look. */
  DeviceFacts look(Name deployment) {
    return new DeviceObserver(access, DeviceClaims.folder(state))
        .observe(deployment, JournalKnowledge.of(journal(deployment)), this::libvirt);
  }

  private LibvirtFacts libvirt() {
    return new LibvirtFacts(
        uri,
        "",
        Optional.of(capabilities()),
        Optional.empty(),
        List.copyOf(guests),
        List.of(),
        true);
  }

  /** The plan of a descriptor, by an earlier look at the devices if there was one. */
  Plan plan(DescriptorFile file, Optional<DeviceFacts> earlier) {
    Name deployment = file.descriptor().deploymentName();
    JournalState journal = journal(deployment);
    LibvirtFacts libvirt = libvirt();
    DeviceFacts devices = earlier.orElseGet(() -> look(deployment));
    Snapshot snapshot =
        new Snapshot(
            root
                ? ROOMY
                : new HostFacts(
                    64,
                    1L << 40,
                    1L << 40,
                    1L << 30,
                    false,
                    false,
                    false,
                    "",
                    HostFacts.PageGrants.NONE,
                    ""),
            libvirt,
            Map.of(IMAGE, new FileFacts(1000, 2000, true, true, true)),
            Set.of(),
            Set.of(),
            Set.of(),
            Map.of(),
            INSTALLS,
            devices,
            Map.of(),
            ServiceFacts.NONE,
            Map.of(),
            containers,
            List.of());
    StateFolder folder = folder(deployment);
    return Planner.plan(
        new PlanInput(file, snapshot, journal, Layout.of(folder, root), hypervisor));
  }

  /** Those of a plan's actions that are about devices. */
  static Plan ofDevices(Plan plan) {
    List<Action> actions =
        plan.actions().stream().filter(action -> isOfDevice(action.step())).toList();
    return new Plan(plan.deployment(), plan.uri(), actions, plan.warnings(), plan.notes());
  }

  private static boolean isOfDevice(Step step) {
    return step.getClass().getPackage().equals(AttachDevice.class.getPackage())
        && !(step instanceof AttachDevice || step instanceof AttachInterfaces);
  }

  /** What a plan does to devices, a line each. */
  static List<String> lines(Plan plan) {
    return ofDevices(plan).actions().stream()
        .map(action -> action.step().chain() + ": " + action)
        .toList();
  }

  void apply(Plan plan) throws Exception {
    try (Journal journal = open(new Name(plan.deployment()))) {
      new Applier(journal, context(journal), ApplyListener.NONE)
          .apply(ofDevices(plan), "/d/lab.yaml", false);
    }
  }

  /** Carries out those of a plan's actions that are about devices, then other steps. */
  void apply(Plan plan, List<Step> others) throws Exception {
    List<Action> actions = new ArrayList<>(ofDevices(plan).actions());
    others.forEach(step -> actions.add(new Action(Action.Kind.DO, step, "")));
    try (Journal journal = open(new Name(plan.deployment()))) {
      new Applier(journal, context(journal), ApplyListener.NONE)
          .apply(
              new Plan(plan.deployment(), plan.uri(), actions, plan.warnings(), plan.notes()),
              "/d/lab.yaml",
              false);
    }
  }

  /** As if the process ended where it failed: nothing is undone. */
  void applyAndStop(Plan plan) throws Exception {
    try (Journal journal = open(new Name(plan.deployment()))) {
      new Applier(journal, context(journal), ApplyListener.NONE)
          .apply(ofDevices(plan), "/d/lab.yaml", true);
    }
  }

  /** Takes everything back; gives what went wrong. */
  List<String> undo(String deployment) throws Exception {
    return undo(deployment, JournalState::newestFirst);
  }

  /** Takes some steps back; gives what went wrong. */
  List<String> undo(String deployment, Function<JournalState, List<Step>> choice) throws Exception {
    try (Journal journal = open(new Name(deployment))) {
      return new Undoer(journal, context(journal), ApplyListener.NONE)
          .undo(choice.apply(journal.state()));
    }
  }

  /**
   * A GPU with two virtual functions under NVIDIA's vGPU host driver, the first of which has a type
   * (0 for none).
   *
   * @return the folder of the driver's own files for it
   */
  String gpuFunction(String bus, String type) {
    String gpu = "/sys/bus/pci/devices/0000:" + bus + ":00.";
    fake.add(FakeDevice.gpu("0000:" + bus + ":00.0").sriov(2, 0x20b0, null));
    fake.write(gpu + "0/sriov_numvfs", "2", Duration.ofSeconds(1));
    fake.file(gpu + "1/nvidia/current_vgpu_type", type)
        .file(
            gpu + "1/nvidia/creatable_vgpu_types",
            "ID    : vGPU Name\n557   : NVIDIA L40-1B\n558   : NVIDIA L40-2B\n");
    fake.takeLog();
    return gpu + "1/nvidia/";
  }

  /** What the deployment did stays, and nobody knows of it. */
  void journalIsLost(String deployment) throws java.io.IOException {
    java.nio.file.Files.delete(folder(new Name(deployment)).journal());
  }

  JournalState journal(Name deployment) {
    return Journal.read(folder(deployment).journal(), Steps.CODEC);
  }

  Map<String, DeviceClaims.Holder> claims() {
    return new DeviceClaims(DeviceClaims.folder(state)).all();
  }

  private Journal open(Name deployment) {
    folder(deployment).create();
    return Journal.open(folder(deployment).journal(), Steps.CODEC, Clock.systemUTC());
  }

  private LiveContext context(Journal journal) {
    return new LiveContext(new Connections(), access, journal, ApplyListener.NONE);
  }

  private StateFolder folder(Name deployment) {
    return new StateFolder(deployment, state.resolve(deployment.text()));
  }

  private HostCapabilities capabilities() {
    boolean xen = uri.startsWith("xen");
    boolean lxc = uri.startsWith("lxc");
    return new HostCapabilities(
        LibvirtUri.parse(uri),
        "host",
        xen ? "Xen" : lxc ? "LXC" : "QEMU",
        Optional.of(new Version(7, 2, 0)),
        new Version(9, 0, 0),
        "x86_64",
        64,
        MemorySize.ofGib(1024),
        List.of(),
        true,
        List.of(
            new GuestArchitecture(
                lxc ? "exe" : "hvm",
                "x86_64",
                Optional.of("/usr/bin/qemu-system-x86_64"),
                List.of("q35"),
                xen ? Set.of("xen") : lxc ? Set.of("lxc") : Set.of("qemu", "kvm"))));
  }
}
