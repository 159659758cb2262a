package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.bind.Spelling;
import graft.common.values.MemorySize;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.HypervisorChoice;
import graft.deployment.descriptor.Network;
import graft.deployment.descriptor.Node;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.LibvirtFacts;
import graft.deployment.observe.NetworkFacts;
import graft.deployment.observe.Snapshot;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reports all problems of a descriptor on this host, before anything changes. */
final class Preflight {
  private final PlanInput input;
  private final Descriptor descriptor;
  private final Snapshot snapshot;
  private final Positions positions;
  private final Problems problems;

  Preflight(PlanInput input, Problems problems) {
    this.input = input;
    this.descriptor = input.descriptor();
    this.snapshot = input.snapshot();
    this.positions = input.file().positions();
    this.problems = problems;
  }

  void check() {
    if (descriptor.usesLibvirt() && libvirt()) {
      descriptor.networks().forEach(this::network);
      memory();
    }
    descriptor.gpus().forEach(this::gpu);
    for (Guest guest : descriptor.guests()) {
      guest.vgpus().forEach(this::away);
    }
    descriptor
        .remoteGuests()
        .forEach(one -> token(one.tokenFile(), positions.of(one, "token-file")));
    GuestPreflight guests = new GuestPreflight(input, problems);
    for (Guest guest : descriptor.guests()) {
      if (guest.existing().isPresent()) {
        new ExistingMachine(input, guest).check(problems);
      } else {
        guests.check(guest);
      }
    }
  }

  private boolean libvirt() {
    LibvirtFacts libvirt = snapshot.libvirt();
    if (!libvirt.answers()) {
      problems.add(
          positions.of(descriptor, "libvirt"),
          "libvirt does not answer: " + libvirt.error(),
          "run graft doctor to find out more");
      return false;
    }
    if (libvirt.uri().endsWith("/system") && !snapshot.host().root()) {
      problems.add(
          positions.of(descriptor, "libvirt"),
          "only root can put guests' files where " + libvirt.uri() + " runs them",
          libvirt.uri().startsWith("xen") || libvirt.uri().startsWith("lxc")
              ? "be root"
              : "be root, or write libvirt: qemu:///session");
      return false;
    }
    Position at = positions.of(descriptor, "hypervisor");
    var capabilities = libvirt.capabilities().orElseThrow();
    if (!input.hypervisor().accepts(capabilities)) {
      problems.add(
          at, "libvirt at " + libvirt.uri() + " runs no guests of " + input.hypervisor().name());
      return false;
    }
    boolean fast =
        input
            .hypervisor()
            .features(capabilities, Virtualization.HVM)
            .contains(GuestFeature.HARDWARE_ACCELERATION);
    if (descriptor.hypervisor() == HypervisorChoice.KVM && !fast) {
      problems.add(
          at,
          "KVM does not work on this host: "
              + String.join("; ", input.hypervisor().warnings(capabilities)),
          "hypervisor: auto chooses QEMU's emulation");
    }
    if (descriptor.hypervisor() == HypervisorChoice.QEMU && fast) {
      problems.add(
          at,
          "not supported yet on this host: emulation where KVM works",
          "hypervisor: auto chooses KVM");
    }
    return true;
  }

  private void network(Network network) {
    String id = "network/" + network.name() + "/define";
    if (snapshot.libvirt().network(network.name().text()).isPresent()
        && input.journal().entry(id).isEmpty()) {
      problems.add(
          positions.of(network, "name"),
          "libvirt has a network '" + network.name() + "' that this descriptor did not make",
          "remove the entry to use that one, or choose another name");
    }
    if (!snapshot.bundles().programs().contains("dnsmasq")) {
      problems.add(
          positions.of(network, "name"),
          "libvirt needs dnsmasq for a network, and this host has none",
          "apt-get install dnsmasq-base");
    }
  }

  /** The memory that guests still need; running guests have theirs already. */
  private void memory() {
    long all = snapshot.libvirt().guestMemory().orElse(snapshot.host().availableMemory());
    long available = all;
    for (Guest guest : descriptor.guests()) {
      boolean runs =
          snapshot.libvirt().guest(guest.name().text()).map(g -> g.running()).orElse(false);
      if (runs || guest.existing().isPresent() || guest.placement().hugePages().isPresent()) {
        continue; // huge pages are counted separately
      }
      long wanted = guest.memory().bytes();
      if (wanted > available) {
        boolean alone = wanted > all;
        problems.add(
            positions.of(guest, "memory"),
            "the guest '"
                + guest.name()
                + "' needs "
                + guest.memory()
                + " of memory; "
                + (alone ? "the host has " : "beside the guests before it the host has ")
                + new MemorySize(alone ? all : Math.max(0, available)).rounded()
                + " free",
            "");
      }
      available -= wanted;
    }
  }

  private void gpu(Gpu gpu) {
    boolean cuda =
        gpu.device().kind() == GpuDevice.Kind.CUDA || gpu.device().kind() == GpuDevice.Kind.MIG;
    if (cuda && gpu.owner().kind() == Owner.Kind.HOST && snapshot.host().nvidiaDriver().isEmpty()) {
      problems.add(
          positions.of(gpu, "device"),
          "this host has no NVIDIA driver for '" + gpu.device() + "'",
          "install it, or write device: software");
    }
    if (gpu.server().port().isPresent()
        && snapshot.listening().contains(gpu.server().port().get())
        && !snapshot.servers().contains(input.layout().state().serverPid(gpu.name()))) {
      problems.add(
          positions.of(gpu.server(), "port"),
          "another program listens at port " + gpu.server().port().get(),
          "choose another, or leave 'port' out");
    }
  }

  /**
   * Checks a GPU of another machine, whose server has its own tokens file that Graft cannot change.
   */
  private void away(VGpu vgpu) {
    Optional<Node> node = new ServerSteps(input).node(vgpu.gpu());
    if (node.isEmpty()) {
      return;
    }
    token(
        vgpu.tokenFile().orElse(node.get().tokenFile()),
        vgpu.tokenFile().isPresent()
            ? positions.of(vgpu, "token-file")
            : positions.of(node.get(), "token-file"));
    if (node.get().server().isUnix()) {
      problems.add(
          positions.of(node.get(), "server"),
          "a guest cannot reach " + node.get().server(),
          "write tcp://HOST:PORT");
    }
    if (vgpu.sessions().isPresent()) {
      problems.add(
          positions.of(vgpu, "sessions"),
          "the server of the node '" + node.get().name() + "' says how many sessions a guest gets",
          "write max-sessions=NUMBER into its list of tokens, and remove the key here");
    }
    if (vgpu.memory().isPresent()) {
      problems.add(
          positions.of(vgpu, "memory"),
          "the server of the node '" + node.get().name() + "' says how much memory a guest gets",
          "write memory=BYTES into its list of tokens, and remove the key here");
    }
  }

  /** Checks a file with a token that was made elsewhere. */
  private void token(String named, Position at) {
    Path token = input.file().resolve(named);
    Optional<FileFacts> file = snapshot.file(token).filter(FileFacts::readable);
    if (file.isEmpty()) {
      problems.add(
          at,
          "there is no file " + token + " that could be read",
          "write a token of the server's list there, mode 0600");
    } else if (!file.get().tokenProblem().isEmpty()) {
      problems.add(
          at,
          token + " cannot be used: " + file.get().tokenProblem(),
          "write a token of the server's list there; chmod 600 " + token);
    }
  }

  /** Reports a network that neither libvirt nor the descriptor knows. */
  static void networkExists(PlanInput input, String name, Position at, Problems problems) {
    List<NetworkFacts> there = input.snapshot().libvirt().networks();
    Set<String> known = new java.util.TreeSet<>(there.stream().map(NetworkFacts::name).toList());
    input.descriptor().networks().forEach(n -> known.add(n.name().text()));
    if (!known.contains(name)) {
      known.add("user");
      problems.add(at, "libvirt has no network named '" + name + "'", Spelling.hint(name, known));
    }
  }
}
