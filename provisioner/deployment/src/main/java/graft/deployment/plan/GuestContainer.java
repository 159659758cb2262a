package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.Name;
import graft.common.values.PciAddress;
import graft.deployment.descriptor.HypervisorChoice;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.fabric.GuestDevices;
import graft.deployment.gpu.GpuForContainer;
import graft.deployment.journal.Entry;
import graft.deployment.observe.FileFacts;
import graft.deployment.state.ServerFolder;
import graft.deployment.state.SubordinateIds;
import graft.deployment.step.Step;
import graft.deployment.step.device.LendFunction;
import graft.deployment.step.device.LendGpu;
import graft.deployment.step.guest.MakeRoot;
import graft.deployment.step.guest.RegisterUsers;
import graft.deployment.step.host.MakeSocketFolder;
import graft.guests.container.RootSource;
import graft.guests.image.ImageName;
import graft.guests.payload.FileStamp;
import graft.hypervisors.libvirt.domain.Boot;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The parts of a guest that only a container has: its root folder, its users, its socket. */
final class GuestContainer {
  /** The folder around the root folder, in the folder of the guest's files. */
  private static final String FOLDER = "container";

  /** Where a container sees the folder of its first server's socket. */
  private static final String SOCKETS = "/var/lib/graft/server";

  private final PlanInput input;
  private final Guest guest;

  GuestContainer(PlanInput input, Guest guest) {
    this.input = input;
    this.guest = guest;
  }

  /** Whether the guests of a descriptor are containers. */
  static boolean isWanted(PlanInput input) {
    return input.descriptor().hypervisor() == HypervisorChoice.LXC;
  }

  /**
   * Its users of the host: those that it has, else the first that neither others nor guests before
   * it have.
   */
  Boot.IdRange ids() {
    List<Boot.IdRange> taken = new ArrayList<>(input.snapshot().containers().taken());
    for (Guest other : input.descriptor().guests()) {
      recorded(other).ifPresent(taken::add);
    }
    for (Guest other : input.descriptor().guests()) {
      Boot.IdRange its = recorded(other).orElseGet(() -> SubordinateIds.free(taken));
      if (other.name().equals(guest.name())) {
        return its;
      }
      taken.add(its);
    }
    throw new IllegalStateException(guest.name() + " is no guest of its descriptor");
  }

  /** Users that could not be registered are given up, unless files belong to them already. */
  private Optional<Boot.IdRange> recorded(Guest other) {
    String chain = "guest/" + other.name();
    boolean failed =
        input.journal().entry(chain + "/users").stream()
            .anyMatch(entry -> entry.status() == Entry.Status.FAILED);
    return failed && input.journal().entry(chain + "/root").isEmpty()
        ? Optional.empty()
        : input.journal().step(chain + "/users", RegisterUsers.class).map(RegisterUsers::ids);
  }

  private Path source() {
    return input.file().resolveRoot(guest.root().orElseThrow());
  }

  private Path folder() {
    return input.layout().guest(guest.name()).resolve(FOLDER);
  }

  /**
   * The folder of a server's socket for it, on the host.
   *
   * @param further the GPU, if it is that of a further vGPU
   */
  Path sockets(Optional<Name> further) {
    return ServerFolder.sockets(input.layout().state(), guest.name(), further);
  }

  private static String socketsInside(Optional<Name> further) {
    return SOCKETS + further.map(gpu -> "." + gpu).orElse("");
  }

  /** The path at which it finds that server's socket. */
  static String socketInside(Optional<Name> further) {
    return MakeSocketFolder.socket(Path.of(socketsInside(further))).toString();
  }

  private Boot.SharedFolder shared(VGpu vgpu) {
    Optional<Name> further = guest.further(vgpu.gpu());
    return new Boot.SharedFolder(sockets(further).toString(), socketsInside(further));
  }

  /**
   * What it needs of its own GPUs, which are no part of a vGPU.
   *
   * @param devices the devices that it gets
   */
  List<GpuForContainer> gpus(GuestDevices devices) {
    return devices.assign().stream()
        .filter(LendGpu.class::isInstance)
        .map(step -> input.snapshot().devices().forContainers().get(((LendGpu) step).device()))
        .toList();
  }

  /**
   * The functions of adapters whose network interfaces move into it.
   *
   * @param devices the devices that it gets
   */
  static List<PciAddress> functions(GuestDevices devices) {
    return devices.assign().stream()
        .filter(LendFunction.class::isInstance)
        .map(step -> ((LendFunction) step).device())
        .toList();
  }

  /**
   * How it boots.
   *
   * @param gpus its own GPUs
   */
  Boot boot(List<GpuForContainer> gpus) {
    Stream<Boot.SharedFolder> sockets =
        guest.vgpus().stream()
            .filter(vgpu -> new GuestChannels(input, guest, vgpu).usesSocket())
            .map(this::shared);
    Stream<Boot.SharedFolder> drivers = gpus.stream().flatMap(gpu -> gpu.files().stream());
    List<Boot.SharedFolder> folders = Stream.concat(sockets, drivers).distinct().toList();
    String init =
        Optional.ofNullable(input.snapshot().containers().roots().get(source()))
            .map(RootSource::init)
            .filter(path -> !path.isEmpty())
            .orElse("/sbin/init");
    return new Boot.Container(MakeRoot.root(folder()).toString(), init, ids(), folders);
  }

  /** The steps that make its root folder. */
  List<Step> steps() {
    String name = guest.name().text();
    String owner = "graft-" + input.descriptor().deploymentName() + "-" + name;
    FileStamp stamp =
        input
            .snapshot()
            .file(source())
            .map((FileFacts facts) -> facts.stamp(source()))
            .orElseGet(() -> new FileStamp(source(), 0, 0)); // a folder
    return List.of(
        new RegisterUsers(name, owner, ids()), new MakeRoot(name, stamp, folder(), ids()));
  }

  /** Reports a root folder that cannot be made. */
  void check(Problems problems) {
    Position at = input.file().positions().of(guest, "root");
    RootSource found = input.snapshot().containers().roots().get(source());
    if (found == null) {
      problems.add(
          at,
          "the root file system is missing: there is neither a folder nor a file " + source(),
          ImageName.of(guest.root().orElseThrow())
              .map(name -> "graft image build --container " + name)
              .orElse("name a folder, a tar archive or an initramfs with a system"));
    } else if (folder().startsWith(source())) {
      problems.add(
          at,
          "the root folder of the container would lie in " + source() + ", from which it is copied",
          "name a folder that holds this system alone");
    } else if (!found.problem().isEmpty()) {
      problems.add(at, "the root file system " + source() + " " + found.problem(), found.hint());
    }
  }
}
