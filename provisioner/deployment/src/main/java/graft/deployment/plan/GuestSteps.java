package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.common.values.PciAddress;
import graft.common.values.TimeSpan;
import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.guest.Disk;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Kernel;
import graft.deployment.descriptor.guest.Ready;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.disk.DiskGrowth;
import graft.deployment.fabric.GuestDevices;
import graft.deployment.observe.DefinedDevices;
import graft.deployment.observe.FileFacts;
import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.Layout;
import graft.deployment.step.Step;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.device.AttachInterfaces;
import graft.deployment.step.device.SetCpus;
import graft.deployment.step.device.SetMemory;
import graft.deployment.step.guest.AwaitGuest;
import graft.deployment.step.guest.BuildInitramfs;
import graft.deployment.step.guest.CheckBundle;
import graft.deployment.step.guest.CopyFile;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.InstallByAgent;
import graft.deployment.step.guest.InstallBySsh;
import graft.deployment.step.guest.InstallIntoImage;
import graft.deployment.step.guest.MakeFolder;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.guest.OrderChannels;
import graft.deployment.step.guest.ShareTokens;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.guest.VerifyCuda;
import graft.guests.payload.CloudInitSeed;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The steps that make one guest. */
final class GuestSteps {
  static final String KERNEL = "kernel";
  static final String INITRAMFS = "initramfs";
  static final String ROOT_DISK = "root.qcow2";

  private final PlanInput input;
  private final ServerSteps servers;
  private final Guest guest;
  private final GuestDevices devices;
  private final List<GuestChannels> channels;
  private final Setup.Method method;
  private final GuestSeed seed;
  private final GuestLogin login;
  private final Path folder;
  private final String name;
  private final String uri;
  private final String uuid;

  GuestSteps(PlanInput input, ServerSteps servers, Guest guest, GuestDevices devices) {
    this.devices = devices;
    this.input = input;
    this.servers = servers;
    this.guest = guest;
    this.channels = GuestChannels.of(input, guest);
    this.method = InstallMethodChoice.of(input, guest).method();
    this.seed = new GuestSeed(input, guest);
    this.login = new GuestLogin(input, guest);
    this.folder = input.layout().guest(guest.name());
    this.name = guest.name().text();
    this.uri = input.snapshot().libvirt().uri();
    this.uuid = Identities.uuid(input.descriptor().deploymentName().text(), name).toString();
  }

  /**
   * Whether a guest boots with a seed: as its install method, or only for the user's own
   * cloud-config.
   */
  static boolean hasSeed(PlanInput input, Guest guest) {
    return InstallMethodChoice.of(input, guest).method() == Setup.Method.SEED
        || (guest.image().isPresent() && guest.setup().userData().isPresent());
  }

  static String diskFile(Disk disk) {
    return DefinedDevices.fileName(disk.name().text());
  }

  /** The steps that choose a guest's GPUs, and those that let it use GPUs of this host. */
  static List<Step> access(PlanInput input, ServerSteps servers, Guest guest) {
    String name = guest.name().text();
    List<Step> steps = new ArrayList<>(input.chosen(guest));
    for (VGpu vgpu : guest.vgpus()) {
      Name gpu = vgpu.gpu();
      if (servers.node(gpu).isEmpty()) {
        Path token = servers.token(guest, gpu);
        String settings = new GuestChannels(input, guest, vgpu).grant();
        steps.add(new MakeToken(name, token, guest.further(gpu).map(Name::text)));
        steps.add(new GrantAccess(name, gpu.text(), token, servers.tokens(gpu), settings));
      }
    }
    return steps;
  }

  List<Step> steps() {
    Layout layout = input.layout();
    List<Step> steps = new ArrayList<>();
    steps.addAll(access(input, servers, guest));
    channels.forEach(one -> steps.addAll(one.steps()));
    steps.add(new MakeFolder(name, folder, layout.ownParents() + 1));
    if (guest.image().isPresent()) {
      Path image = input.file().resolve(guest.image().get());
      steps.addAll(disk("root", Optional.of(image), guest.diskSize(), folder.resolve(ROOT_DISK)));
    }
    if (guest.root().isPresent()) {
      steps.addAll(new GuestContainer(input, guest).steps());
    }
    for (Disk disk : guest.disks()) {
      Optional<Path> source = disk.source().map(input.file()::resolve);
      steps.addAll(disk(disk.name().text(), source, disk.size(), folder.resolve(diskFile(disk))));
    }
    steps.addAll(login.steps());
    Payload payload = login.with(new GuestBundles(input, servers, guest).payload());
    kernel(steps);
    InstallMethod installMethod = installMethod();
    steps.addAll(installMethod.beforeStart(payload));
    if (hasSeed(input, guest) && method != Setup.Method.SEED) {
      steps.addAll(new SeedMethod().beforeStart(Payload.empty(name)));
    }
    steps.addAll(devices.assign());
    domain(steps);
    if (guest.ready().when() != Ready.When.OFF) {
      ready(steps, payload);
      steps.addAll(installMethod.whenReady(payload));
      last(steps);
    }
    return steps;
  }

  /** The guest's install method. */
  InstallMethod installMethod() {
    return switch (method) {
      case SEED -> new SeedMethod();
      case INITRAMFS -> new InitramfsMethod();
      case AGENT -> new AgentMethod();
      case SSH -> new SshMethod();
      case IMAGE -> new ImageMethod();
      default -> new InstallMethod() {};
    };
  }

  /** A cloud-init NoCloud seed at the first boot. */
  private final class SeedMethod implements InstallMethod {
    @Override
    public List<Step> beforeStart(Payload payload) {
      return List.of(seed.step(payload));
    }

    @Override
    public List<Step> whenReady(Payload payload) {
      return payload.isEmpty() || !byAgentToo()
          ? List.of()
          : List.of(seed.install(uri, uuid, payload));
    }
  }

  /** An addition to the initramfs, which holds files and nothing else. */
  private final class InitramfsMethod implements InstallMethod {
    @Override
    public void check(Payload payload, Position at, Problems problems) {
      if (!payload.packages().isEmpty() || !payload.services().isEmpty()) {
        problems.add(
            at,
            "a guest that boots an initramfs gets files from its bundles, and neither packages nor"
                + " services",
            "boot an image, or leave the bundle out");
      }
    }

    @Override
    public List<Step> beforeStart(Payload payload) {
      String initramfs = guest.kernel().flatMap(Kernel::initramfs).orElseThrow();
      return List.of(
          new BuildInitramfs(name, stamp(initramfs), payload, folder.resolve(INITRAMFS)));
    }
  }

  /** The QEMU guest agent of the running guest. */
  private final class AgentMethod implements InstallMethod {
    @Override
    public void check(Payload payload, Position at, Problems problems) {
      needsReady("agent", Ready.When.AGENT, at, problems);
    }

    @Override
    public List<Step> whenReady(Payload payload) {
      return payload.isEmpty()
          ? List.of()
          : List.of(
              new InstallByAgent(
                  uri, name, uuid, payload, Optional.empty(), guest.ready().timeout()));
    }
  }

  /** Ansible over SSH. */
  private final class SshMethod implements InstallMethod {
    @Override
    public void check(Payload payload, Position at, Problems problems) {
      needsReady("ssh", Ready.When.AGENT, at, problems);
      for (String obstacle : InstallMethodChoice.sshObstacles(input.snapshot().bundles(), guest)) {
        problems.add(
            at,
            "the install method ssh is not possible for '" + name + "': " + obstacle,
            obstacle.endsWith("on this host")
                ? "apt-get install ansible openssh-client"
                : "give it a libvirt network, or write the address into ssh");
      }
    }

    @Override
    public List<Step> whenReady(Payload payload) {
      return payload.isEmpty()
          ? List.of()
          : List.of(
              new InstallBySsh(
                  uri,
                  name,
                  uuid,
                  login.ssh().orElseThrow(),
                  payload,
                  input.snapshot().bundles().playbooks(),
                  guest.ready().timeout()));
    }
  }

  /** Installs into the disk image, before the guest boots. */
  private final class ImageMethod implements InstallMethod {
    @Override
    public void check(Payload payload, Position at, Problems problems) {
      if (guest.image().isEmpty()) {
        problems.add(at, "the install method image needs a guest that boots an image");
      }
      if (!input.snapshot().bundles().programs().contains("virt-customize")) {
        problems.add(
            at,
            "the install method image needs virt-customize on this host",
            "apt-get install libguestfs-tools, or leave way: auto");
      }
    }

    @Override
    public List<Step> beforeStart(Payload payload) {
      return payload.isEmpty()
          ? List.of()
          : List.of(
              new InstallIntoImage(
                  name, payload, folder.resolve(ROOT_DISK), GuestDomain.isEmulated(input, guest)));
    }
  }

  private void needsReady(String method, Ready.When when, Position at, Problems problems) {
    if (guest.ready().when() != when) {
      problems.add(
          at,
          "the install method " + method + " needs a guest that answers",
          "leave out ready: {when: ...}");
    }
  }

  private void kernel(List<Step> steps) {
    if (guest.kernel().isEmpty()) {
      return;
    }
    Kernel kernel = guest.kernel().get();
    steps.add(new CopyFile(name, KERNEL, stamp(kernel.image()), folder.resolve(KERNEL)));
    if (kernel.initramfs().isPresent() && method != Setup.Method.INITRAMFS) {
      steps.addAll(new InitramfsMethod().beforeStart(Payload.empty(name)));
    }
  }

  private List<Step> disk(
      String disk, Optional<Path> source, Optional<MemorySize> size, Path target) {
    Optional<FileFacts> facts = source.flatMap(input.snapshot()::file);
    String format = facts.map(f -> f.qcow2() ? "qcow2" : "raw").orElse("");
    Optional<FileStamp> image = source.map(path -> facts.orElseThrow().stamp(path));
    CreateDisk made = new CreateDisk(name, disk, image, format, size, target);
    DiskGrowth growth = new DiskGrowth(input.journal(), input.snapshot(), made);
    UnfitHostException.refuse(growth.problems(input.file().positions().of(guest)));
    return growth.steps(uri, uuid);
  }

  private void domain(List<Step> steps) {
    HostCapabilities host = input.snapshot().libvirt().capabilities().orElseThrow();
    Path console = GuestDomain.console(input, guest);
    String xml =
        Xml.print(input.hypervisor().domainXml(GuestDomain.spec(input, guest, devices), host));
    int count = guest.maxCpus().orElse(guest.cpus());
    String cpus =
        (guest.maxCpus().isPresent() ? "at most " : "") + (count == 1 ? "1 CPU" : count + " CPUs");
    String each = channels.stream().map(GuestChannels::summary).collect(Collectors.joining("; "));
    List<PciAddress> lent = GuestContainer.functions(devices);
    String summary =
        cpus
            + ", "
            + guest.maxMemory().map(most -> "at most " + most).orElse("" + guest.memory())
            + (each.isEmpty() ? "" : ", channels " + each)
            + (lent.isEmpty() ? "" : ", network interfaces " + lent);
    DefineGuest define = new DefineGuest(uri, name, uuid, summary, xml);
    DevicesInPlace.Result devicesInPlace = DevicesInPlace.of(input, guest, define);
    boolean keeps = keepsRunning(steps);
    steps.add(keeps ? devicesInPlace.define() : define);
    guest.maxCpus().ifPresent(most -> steps.add(new SetCpus(uri, name, uuid, guest.cpus(), most)));
    if (guest.maxMemory().isPresent()) {
      steps.add(new SetMemory(uri, name, uuid, guest.memory()));
    }
    steps.addAll(keeps ? devicesInPlace.steps() : List.of());
    for (String device : devices.devices()) {
      Optional<Boolean> permissive =
          devices.permissive().contains(device) ? Optional.of(true) : Optional.empty();
      steps.add(new AttachDevice(uri, name, uuid, device, permissive));
    }
    if (!lent.isEmpty()) {
      steps.add(new AttachInterfaces(uri, name, uuid, lent));
    }
    steps.add(new StartGuest(uri, name, uuid, console));
  }

  /** Whether nothing that these steps made, and that a running guest uses, changes. */
  private boolean keepsRunning(List<Step> steps) {
    return steps.stream()
        .filter(step -> !step.isInPlace() && !step.isPluggable() && !step.isIndependent())
        .allMatch(
            step -> input.journal().step(step.id(), Step.class).filter(step::equals).isPresent());
  }

  private void ready(List<Step> steps, Payload payload) {
    Ready ready = guest.ready();
    boolean agent = ready.when() == Ready.When.AGENT;
    boolean seeded = method == Setup.Method.SEED && agent;
    String marker = seeded ? CloudInitSeed.marker(seed.step(payload).instance()) : "";
    Path console = GuestDomain.console(input, guest);
    steps.add(
        new AwaitGuest(
            uri,
            name,
            uuid,
            ready.text().orElse(""),
            marker,
            seeded && byAgentToo(),
            agent ? login.ssh() : Optional.empty(),
            ready.timeout(),
            console));
  }

  /** The steps that check what was installed in the guest. */
  private void last(List<Step> steps) {
    TimeSpan timeout = guest.ready().timeout();
    for (Gpu gpu : GuestBundles.owned(input, guest)) {
      Path tokens = servers.tokens(gpu.name());
      List<String> users = servers.users(gpu);
      steps.add(
          new ShareTokens(uri, name, uuid, login.ssh(), gpu.name().text(), tokens, users, timeout));
    }
    boolean proven = guest.ready().verify() && method != Setup.Method.NONE;
    if (proven) {
      new GuestBundles(input, servers, guest)
          .checks()
          .forEach(
              (bundle, command) ->
                  steps.add(
                      new CheckBundle(uri, name, uuid, login.ssh(), bundle, command, timeout)));
    }
    steps.addAll(order(steps));
    if (proven && guest.hasVgpu()) {
      boolean patient = guest.vgpus().stream().anyMatch(vgpu -> servers.inGuest(vgpu.gpu()));
      steps.add(new VerifyCuda(uri, name, uuid, login.ssh(), patient, timeout));
    }
  }

  /**
   * The step that sets the client's order of channels, where it is not the usual one or has
   * changed. The step is repeated where a later measurement found the guest without it.
   */
  private List<Step> order(List<Step> before) {
    Optional<ChannelChoice> choice = ChannelChoice.of(input, name, before);
    if (choice.isEmpty() || choice.get().by() == ChannelChoice.By.SEVERAL_SERVERS) {
      return List.of();
    }
    Optional<ChannelMeasurement> measured =
        choice.get().measured().filter(found -> choice.get().by() == ChannelChoice.By.MEASURED);
    boolean lacksIt =
        measured.map(found -> choice.get().differsFrom(found.addresses())).orElse(false);
    Optional<OrderChannels> done =
        input.journal().step(OrderChannels.id(name), OrderChannels.class);
    if (done.isEmpty() && !lacksIt && choice.get().order().equals(choice.get().usual())) {
      return List.of();
    }
    String when = measured.map(found -> found.when().toString()).orElse("");
    String since = done.isPresent() && !lacksIt ? done.get().measured() : when;
    return List.of(
        new OrderChannels(
            uri, name, uuid, login.ssh(), choice.get().order(), choice.get().usual(), since));
  }

  /** Whether the agent installs what cloud-init did not, which is so for {@code auto}. */
  private boolean byAgentToo() {
    return guest.setup().way() == Setup.Method.AUTO
        && guest.ready().when() == Ready.When.AGENT
        && GuestDomain.hasAgent(input, guest);
  }

  private FileStamp stamp(String named) {
    Path path = input.file().resolve(named);
    return input.snapshot().file(path).orElseThrow().stamp(path);
  }
}
