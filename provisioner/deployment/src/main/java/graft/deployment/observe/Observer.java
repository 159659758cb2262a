package graft.deployment.observe;

import graft.common.GraftException;
import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.common.program.ClientFolder;
import graft.common.program.CurrentUser;
import graft.common.values.Name;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.Network;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.guest.Disk;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Kernel;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.descriptor.guest.SetupFile;
import graft.deployment.descriptor.guest.Ssh;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.DeviceClaims;
import graft.deployment.state.Layout;
import graft.deployment.state.MeasuredChannels;
import graft.deployment.state.ServerFolder;
import graft.deployment.state.ServerProcess;
import graft.deployment.state.ServerUser;
import graft.deployment.state.StateFolder;
import graft.sriov.vf.HostAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** Makes a {@link Snapshot}; all examination of the host is done here. */
public final class Observer {
  private final Connections connections;
  private final HostAccess host;

  public Observer(Connections connections) {
    this(connections, HostAccess.thisHost());
  }

  /** With the devices of another host, for tests. */
  public Observer(Connections connections, HostAccess host) {
    this.connections = connections;
    this.host = host;
  }

  /**
   * Examines everything that the descriptor refers to.
   *
   * @param file with the GPUs that were chosen before, where a vGPU says any
   * @param known the results of an earlier apply
   */
  public Snapshot observe(DescriptorFile file, StateFolder state, Known known) {
    Descriptor descriptor = file.descriptor();
    boolean devices = known.devices() || descriptor.usesDevices();
    // In parallel with everything that is not libvirt's: with hundreds of guests most of the time
    // is waiting for the daemon.
    CompletableFuture<LibvirtFacts> asked =
        CompletableFuture.supplyAsync(
            () -> libvirt(descriptor, known, devices, state.deployment().text()));
    try {
      return observe(file, state, known, devices, asked);
    } finally {
      asked.exceptionally(e -> null).join(); // it uses the connections, which the caller closes
    }
  }

  private Snapshot observe(
      DescriptorFile file,
      StateFolder state,
      Known known,
      boolean devices,
      CompletableFuture<LibvirtFacts> asked) {
    Descriptor descriptor = file.descriptor();
    HostFacts itself = HostObserver.observe(); // starts a program, which takes a while as well
    DeviceFacts seen =
        devices
            ? new DeviceObserver(host, DeviceClaims.folder(state.path().getParent()))
                .observe(state.deployment(), known, asked::join)
            : DeviceFacts.NONE;
    FileObserver files = files(file, state);
    Set<Path> servers = new LinkedHashSet<>();
    Map<Path, Map<String, String>> grants = new LinkedHashMap<>();
    for (Gpu gpu : descriptor.gpus()) {
      Path pidFile = state.serverPid(gpu.name());
      for (Path one : List.of(pidFile, state.networkPid(gpu.name()))) {
        if (ServerProcess.recorded(one).isPresent()) {
          servers.add(one);
        }
      }
      for (Path tokens :
          List.of(state.tokens(gpu.name()), ServerFolder.of(state, gpu.name()).tokens())) {
        grants.put(tokens, grants(state, file, gpu, tokens));
      }
    }
    Set<Integer> listening = HostObserver.listening();
    Map<String, ChannelMeasurement> channels = new MeasuredChannels(state).all();
    ServiceFacts services = ServiceFacts.observe(ServerUser.find().isPresent());
    ContainerFacts containers = ContainerObserver.observe(file);
    List<GpuFacts> gpus = GpuFacts.observe(descriptor);
    InstallFacts installs =
        new BundleObserver(file, ClientFolder.path(System.getenv()), ClientFolder.home())
            .observe(() -> new ConnectionObserver(connections, asked.join()).observe(descriptor));
    LibvirtFacts libvirt = asked.join();
    return new Snapshot(
        itself,
        libvirt,
        files.files(),
        files.folders(),
        listening,
        servers,
        grants,
        installs,
        seen,
        channels,
        services,
        new MachineObserver(file, installs, new DomainObserver(file, connections, libvirt))
            .observe(),
        containers,
        gpus);
  }

  private static FileObserver files(DescriptorFile file, StateFolder state) {
    FileObserver files = new FileObserver();
    named(file).forEach(files::look);
    tokens(file).forEach(files::lookForToken);
    files.lookUnder(state.path());
    files.lookIn(Path.of("/dev/shm"), "graft." + state.deployment() + ".");
    files.lookUnder(Layout.of(state, CurrentUser.isRoot()).guests());
    for (Guest guest : file.descriptor().guests()) {
      for (VGpu vgpu : guest.root().isPresent() ? guest.vgpus() : List.<VGpu>of()) {
        files.lookUnder(ServerFolder.sockets(state, guest.name(), guest.further(vgpu.gpu())));
      }
    }
    return files;
  }

  /** A deployment of machines that exist already needs no libvirt, and does not wait for one. */
  private LibvirtFacts libvirt(
      Descriptor descriptor, Known known, boolean devices, String deployment) {
    return descriptor.usesLibvirt() || devices || !known.uri().isEmpty()
        ? new LibvirtObserver(connections)
            .observe(
                descriptor.libvirt(),
                descriptor.hypervisor(),
                known.uri(),
                networks(descriptor),
                devices,
                deployment)
        : LibvirtFacts.unreachable("", "it was not asked: the descriptor does not need it");
  }

  private static Set<String> networks(Descriptor descriptor) {
    Set<String> names = new LinkedHashSet<>();
    for (Guest guest : descriptor.guests()) {
      for (Nic nic : guest.networks()) {
        names.add(nic.network().text());
      }
    }
    for (Network network : descriptor.networks()) {
      names.add(network.name().text());
    }
    return names;
  }

  /** The files with tokens that the descriptor names. */
  private static Set<Path> tokens(DescriptorFile file) {
    Descriptor descriptor = file.descriptor();
    Set<String> named = new LinkedHashSet<>();
    descriptor.nodes().forEach(node -> named.add(node.tokenFile()));
    descriptor.remoteGuests().forEach(remote -> named.add(remote.tokenFile()));
    descriptor.guests().stream()
        .flatMap(guest -> guest.vgpus().stream())
        .forEach(vgpu -> vgpu.tokenFile().ifPresent(named::add));
    return named.stream().map(file::resolve).collect(Collectors.toCollection(LinkedHashSet::new));
  }

  private static Set<Path> named(DescriptorFile file) {
    Set<Path> paths = new LinkedHashSet<>();
    paths.addAll(tokens(file));
    for (Guest guest : file.descriptor().guests()) {
      guest.image().ifPresent(image -> paths.add(file.resolve(image)));
      guest.root().ifPresent(root -> paths.add(file.resolveRoot(root)));
      if (guest.kernel().isPresent()) {
        Kernel kernel = guest.kernel().get();
        paths.add(file.resolve(kernel.image()));
        kernel.initramfs().ifPresent(initramfs -> paths.add(file.resolve(initramfs)));
      }
      for (Disk disk : guest.disks()) {
        disk.source().ifPresent(source -> paths.add(file.resolve(source)));
      }
      for (SetupFile given : guest.setup().files()) {
        paths.add(file.resolve(given.source()));
      }
      guest.existing().flatMap(Existing::key).ifPresent(key -> paths.add(file.resolve(key)));
      guest
          .setup()
          .ssh()
          .filter(login -> guest.existing().isPresent())
          .flatMap(Ssh::key)
          .ifPresent(key -> paths.add(file.resolve(key)));
      guest.setup().userData().ifPresent(data -> paths.add(file.resolve(data)));
    }
    return paths;
  }

  /** The guests whose token is in the server's list, with their settings. */
  private static Map<String, String> grants(
      StateFolder state, DescriptorFile file, Gpu gpu, Path tokens) {
    Map<Name, Path> users = new LinkedHashMap<>();
    for (Guest guest : file.descriptor().guests()) {
      users.put(guest.name(), state.token(guest.name(), guest.further(gpu.name())));
    }
    file.descriptor()
        .remoteGuests(gpu)
        .forEach(remote -> users.put(remote.name(), file.resolve(remote.tokenFile())));
    Map<String, String> good = new LinkedHashMap<>();
    try {
      Map<String, Grant> grants = new TokensFile(tokens).readIfThere();
      for (Map.Entry<Name, Path> user : users.entrySet()) {
        Grant grant = grants.get(user.getKey().text());
        Path token = user.getValue();
        if (grant != null
            && Files.exists(token)
            && grant.token().equals(Files.readString(token).strip())) {
          good.put(grant.name(), grant.settings());
        }
      }
      return good;
    } catch (IOException e) {
      throw new GraftException("cannot read the tokens of '" + gpu.name() + "': " + e, "", e);
    }
  }
}
