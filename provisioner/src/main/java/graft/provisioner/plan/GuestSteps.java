package graft.provisioner.plan;

import graft.hypervisors.libvirt.HostCapabilities;
import graft.hypervisors.libvirt.domain.Xml;
import graft.provisioner.descriptor.Disk;
import graft.provisioner.descriptor.Guest;
import graft.provisioner.descriptor.Kernel;
import graft.provisioner.descriptor.Ready;
import graft.provisioner.descriptor.Setup;
import graft.provisioner.descriptor.SetupFile;
import graft.provisioner.descriptor.VGpu;
import graft.provisioner.fabric.GuestDevices;
import graft.provisioner.observe.FileFacts;
import graft.provisioner.observe.FileStamp;
import graft.provisioner.setup.ClientSettings;
import graft.provisioner.setup.CloudInitSeed;
import graft.provisioner.setup.Payload;
import graft.provisioner.setup.PayloadFile;
import graft.provisioner.state.Layout;
import graft.provisioner.step.Step;
import graft.provisioner.step.device.AttachDevice;
import graft.provisioner.step.guest.AwaitGuest;
import graft.provisioner.step.guest.BuildInitramfs;
import graft.provisioner.step.guest.BuildSeed;
import graft.provisioner.step.guest.CopyFile;
import graft.provisioner.step.guest.CreateDisk;
import graft.provisioner.step.guest.DefineGuest;
import graft.provisioner.step.guest.GrantAccess;
import graft.provisioner.step.guest.MakeFolder;
import graft.provisioner.step.guest.MakeToken;
import graft.provisioner.step.guest.StartGuest;
import graft.provisioner.step.guest.VerifyCuda;
import graft.provisioner.values.MemorySize;
import graft.provisioner.values.Name;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The steps that make one guest. */
final class GuestSteps {
  static final String KERNEL = "kernel";
  static final String INITRAMFS = "initramfs";
  static final String SEED = "seed.iso";
  static final String ROOT_DISK = "root.qcow2";

  private final PlanInput input;
  private final ServerSteps servers;
  private final Guest guest;
  private final GuestDevices devices;
  private final GuestChannels channels;
  private final Path folder;
  private final String name;

  GuestSteps(PlanInput input, ServerSteps servers, Guest guest, GuestDevices devices) {
    this.devices = devices;
    this.input = input;
    this.servers = servers;
    this.guest = guest;
    this.channels = new GuestChannels(input, guest);
    this.folder = input.layout().guest(guest.name());
    this.name = guest.name().text();
  }

  /** The way in that {@code auto} stands for. */
  static Setup.Way way(Guest guest) {
    if (guest.setup().way() != Setup.Way.AUTO) {
      return guest.setup().way();
    }
    if (guest.image().isPresent()) {
      return Setup.Way.SEED;
    }
    boolean initramfs = guest.kernel().flatMap(Kernel::initramfs).isPresent();
    return initramfs ? Setup.Way.INITRAMFS : Setup.Way.NONE;
  }

  static String diskFile(Disk disk) {
    return "disk-" + disk.name() + ".qcow2";
  }

  List<Step> steps() {
    Layout layout = input.layout();
    List<Step> steps = new ArrayList<>();
    if (guest.vgpu().isPresent()) {
      VGpu vgpu = guest.vgpu().get();
      Path token = layout.state().token(guest.name());
      Path tokens = layout.state().tokens(vgpu.gpu());
      steps.add(new MakeToken(name, token));
      steps.add(new GrantAccess(name, vgpu.gpu().text(), token, tokens, channels.grant()));
      steps.addAll(channels.steps());
    }
    steps.add(new MakeFolder(name, folder, layout.ownParents() + 1));
    if (guest.image().isPresent()) {
      Path image = input.file().resolve(guest.image().get());
      steps.add(disk("root", Optional.of(image), Optional.empty(), folder.resolve(ROOT_DISK)));
    }
    for (Disk disk : guest.disks()) {
      Optional<Path> source = disk.source().map(input.file()::resolve);
      steps.add(disk(disk.name().text(), source, disk.size(), folder.resolve(diskFile(disk))));
    }
    boot(steps);
    steps.addAll(devices.take());
    domain(steps);
    return steps;
  }

  private void boot(List<Step> steps) {
    if (guest.kernel().isPresent()) {
      Kernel kernel = guest.kernel().get();
      steps.add(new CopyFile(name, KERNEL, stamp(kernel.image()), folder.resolve(KERNEL)));
      kernel
          .initramfs()
          .ifPresent(
              initramfs ->
                  steps.add(
                      new BuildInitramfs(
                          name, stamp(initramfs), payload(), folder.resolve(INITRAMFS))));
    }
    if (way(guest) == Setup.Way.SEED) {
      steps.add(
          new BuildSeed(
              name,
              instance(),
              payload(),
              guest.setup().userData().map(this::stamp),
              folder.resolve(SEED)));
    }
  }

  private Step disk(String disk, Optional<Path> source, Optional<MemorySize> size, Path target) {
    Optional<FileFacts> facts = source.flatMap(input.snapshot()::file);
    String format = facts.map(f -> f.qcow2() ? "qcow2" : "raw").orElse("");
    return new CreateDisk(
        name, disk, source.map(p -> facts.orElseThrow().stamp(p)), format, size, target);
  }

  private void domain(List<Step> steps) {
    HostCapabilities host = input.snapshot().libvirt().capabilities().orElseThrow();
    String uri = input.snapshot().libvirt().uri();
    String uuid = Identities.uuid(input.descriptor().setupName().text(), name).toString();
    Path console = input.layout().console(guest.name());
    String xml =
        Xml.print(input.hypervisor().domainXml(GuestDomain.spec(input, guest, devices), host));
    String cpus = guest.cpus() == 1 ? "1 CPU" : guest.cpus() + " CPUs";
    String reach = guest.vgpu().isPresent() ? ", channels " + channels.summary() : "";
    String summary = cpus + ", " + guest.memory() + reach;
    steps.add(new DefineGuest(uri, name, uuid, summary, xml));
    for (String device : devices.devices()) {
      steps.add(new AttachDevice(uri, name, uuid, device));
    }
    steps.add(new StartGuest(uri, name, uuid, console));
    Ready ready = guest.ready();
    if (ready.when() == Ready.When.OFF) {
      return;
    }
    boolean seeded = way(guest) == Setup.Way.SEED && ready.when() == Ready.When.AGENT;
    String marker = seeded ? CloudInitSeed.marker(instance()) : "";
    String text = ready.text().orElse("");
    steps.add(new AwaitGuest(uri, name, uuid, text, marker, ready.timeout(), console));
    if (guest.vgpu().isPresent() && ready.verify() && way(guest) != Setup.Way.NONE) {
      steps.add(new VerifyCuda(uri, name, uuid, ready.timeout()));
    }
  }

  private Payload payload() {
    List<PayloadFile> files = new ArrayList<>();
    Optional<ClientSettings> client = Optional.empty();
    if (guest.vgpu().isPresent()) {
      Name gpu = guest.vgpu().get().gpu();
      client =
          Optional.of(
              new ClientSettings(
                  channels.addresses(servers.forGuest(guest, gpu)),
                  name,
                  input.layout().state().token(guest.name())));
      for (FileStamp file : input.snapshot().clientFiles()) {
        String path = Payload.CLIENT_FOLDER + "/" + file.path().getFileName();
        files.add(new PayloadFile(file, path, path.contains(".so") ? 0644 : 0755));
      }
    }
    for (SetupFile given : guest.setup().files()) {
      files.add(new PayloadFile(stamp(given.source()), given.path(), given.mode().bits()));
    }
    return new Payload(name, client, files);
  }

  /** Another one whenever anything in the seed is another. */
  private String instance() {
    String content = payload() + " " + guest.setup().userData().map(this::stamp);
    return Identities.uuid(input.descriptor().setupName().text(), name + content).toString();
  }

  private FileStamp stamp(String named) {
    Path path = input.file().resolve(named);
    return input.snapshot().file(path).orElseThrow().stamp(path);
  }
}
