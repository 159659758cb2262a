package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.Name;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.descriptor.guest.BundleUse;
import graft.deployment.descriptor.guest.Channel;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.SetupFile;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.gpu.GpuForContainer;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.InstallFacts;
import graft.guests.bundle.Bundle;
import graft.guests.bundle.Bundles;
import graft.guests.bundle.FoundBundle;
import graft.guests.bundle.PayloadBuilder;
import graft.guests.bundle.Variables;
import graft.guests.payload.GrantRights;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import graft.guests.payload.RegionRights;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The payload of a guest: its bundles, and the files that the descriptor names. */
final class GuestBundles {
  /** The audit trail of a server in a guest, if it is a file. */
  private static final Path AUDIT = Path.of("/var/log/graft/audit.jsonl");

  private static final String ROOT = "root";

  private final PlanInput input;
  private final ServerSteps servers;
  private final Guest guest;

  GuestBundles(PlanInput input, ServerSteps servers, Guest guest) {
    this.input = input;
    this.servers = servers;
    this.guest = guest;
  }

  /** A bundle with the values of its variables. */
  private record Use(Name name, Variables variables, Position at) {}

  /** The GPUs that a guest owns and others use. A GPU that no other guest uses needs no server. */
  static List<Gpu> owned(PlanInput input, Guest guest) {
    ServerSteps servers = new ServerSteps(input);
    return input.descriptor().gpus().stream()
        .filter(gpu -> gpu.owner().kind() == Owner.Kind.GUEST)
        .filter(gpu -> gpu.owner().name().equals(guest.name()))
        .filter(servers::isUsed)
        .toList();
  }

  /** The whole payload, for a guest without problems in {@link #check}. */
  Payload payload() {
    PayloadBuilder payload = new PayloadBuilder(input.snapshot().bundles()::tree);
    for (Use use : uses()) {
      payload.add(input.snapshot().bundles().found().get(use.name()), use.variables());
    }
    furtherTokens().forEach(payload::add);
    if (hasOwnGpu()) {
      payload.add(PayloadFile.text(GpuForContainer.LOADER_LIST, GpuForContainer.LOADER_FILE, 0644));
    }
    List<GuestChannels> channels = GuestChannels.of(input, guest);
    if (channels.stream().anyMatch(GuestChannels::sharesMemory)) {
      RegionRights.files().forEach(payload::add);
    }
    if (channels.stream().anyMatch(GuestChannels::usesVchan)) {
      GrantRights.files().forEach(payload::add);
    }
    for (SetupFile given : guest.setup().files()) {
      Path path = input.file().resolve(given.source());
      FileFacts facts = input.snapshot().file(path).orElseThrow();
      payload.add(PayloadFile.of(facts.stamp(path), given.path(), given.mode().bits()));
    }
    return payload.build(guest.name().text());
  }

  /** The commands that check the bundles, by their names; the client has a step of its own. */
  Map<String, String> checks() {
    Map<String, String> checks = new LinkedHashMap<>();
    for (Use use : uses()) {
      Bundle bundle = input.snapshot().bundles().found().get(use.name()).bundle();
      if (!use.name().equals(Bundles.CLIENT)) {
        Variables variables = PayloadBuilder.variables(bundle, use.variables());
        bundle.check().ifPresent(check -> checks.put(use.name().text(), variables.expand(check)));
      }
    }
    return checks;
  }

  /** Reports the problems of the guest's bundles. */
  void check(Problems problems) {
    InstallFacts facts = input.snapshot().bundles();
    PayloadBuilder trial = new PayloadBuilder(facts::tree);
    for (Use use : uses()) {
      FoundBundle found = facts.found().get(use.name());
      if (found == null) {
        problems.add(
            use.at(), facts.wrong().get(use.name()), "graft bundles lists those that there are");
        continue;
      }
      try {
        settings(use, found);
        trial.add(found, use.variables());
        Variables variables = PayloadBuilder.variables(found.bundle(), use.variables());
        found.bundle().check().ifPresent(variables::expand);
      } catch (IllegalArgumentException e) {
        boolean ours = use.name().equals(Bundles.CLIENT) || use.name().equals(Bundles.SERVER);
        problems.add(
            use.at(),
            "the bundle '" + use.name() + "' does not fit: " + e.getMessage(),
            ours ? "run ./graft build" : "graft bundles " + use.name() + " shows what it asks for");
      }
    }
  }

  /** Reports settings that the bundle does not have. */
  private void settings(Use use, FoundBundle found) {
    List<String> known = found.bundle().settings().stream().map(s -> s.name().text()).toList();
    for (BundleUse given : guest.setup().bundles()) {
      for (String setting : given.name().equals(use.name()) ? given.set() : List.<String>of()) {
        String name = setting.substring(0, setting.indexOf('='));
        if (!known.contains(name)) {
          throw new IllegalArgumentException("it has no setting '" + name + "'; it has " + known);
        }
      }
    }
  }

  /** Whether the payload is files only, without packages and services. */
  boolean areFilesAlone() {
    return uses().stream()
        .map(use -> input.snapshot().bundles().found().get(use.name()))
        .filter(Objects::nonNull)
        .allMatch(f -> f.bundle().packages().isEmpty() && f.bundle().services().isEmpty());
  }

  /** The bundles whose packages a guest without an open network cannot fetch. */
  List<String> warnings() {
    if (!new GuestCards(input, guest).reachesNoMirror()) {
      return List.of();
    }
    List<String> warnings = new ArrayList<>();
    for (Use use : uses()) {
      FoundBundle found = input.snapshot().bundles().found().get(use.name());
      if (found != null && !found.bundle().packages().isEmpty()) {
        warnings.add(
            "the guest '"
                + guest.name()
                + "' cannot fetch the packages of its bundle '"
                + use.name()
                + "' without an open network: use an image that has them, or a network that reaches"
                + " a mirror, such as networks: [user]");
      }
    }
    return warnings;
  }

  /** Whether there is anything to install. */
  boolean any() {
    return !uses().isEmpty() || !guest.setup().files().isEmpty() || hasOwnGpu();
  }

  /** Whether it is a container with a GPU of its own, whose loader is told of the libraries. */
  private boolean hasOwnGpu() {
    boolean owner =
        input.descriptor().gpus().stream()
            .anyMatch(
                gpu ->
                    gpu.owner().kind() == Owner.Kind.GUEST
                        && gpu.owner().name().equals(guest.name()));
    return guest.root().isPresent() && (owner || !guest.passthrough().isEmpty());
  }

  private List<Use> uses() {
    List<Use> uses = new ArrayList<>();
    Position at = input.file().positions().of(guest);
    if (guest.hasVgpu()) {
      uses.add(new Use(Bundles.CLIENT, client(), input.file().positions().of(guest, "vgpu")));
    }
    for (Gpu gpu : owned(input, guest)) {
      uses.add(new Use(Bundles.SERVER, server(gpu), input.file().positions().of(gpu, "owner")));
    }
    for (BundleUse use : guest.setup().bundles()) {
      uses.add(new Use(use.name(), given(use), at));
    }
    return uses;
  }

  private Variables common() {
    return Variables.none()
        .with(Variables.CLIENT, input.snapshot().bundles().client().toString())
        .with(Variables.HOME, input.snapshot().bundles().home().toString())
        .with(Variables.GUEST, guest.name().text());
  }

  /** The addresses of each server, the best first. */
  private String addresses() {
    return eachServer(
        gpu -> {
          VGpu vgpu = guest.vgpu(gpu).orElseThrow();
          return new GuestChannels(input, guest, vgpu).addresses(servers.forGuest(guest, gpu));
        });
  }

  /** A value of the client's configuration with an item for each server. */
  private String eachServer(Function<Name, String> item) {
    return guest.vgpus().stream().map(VGpu::gpu).map(item).collect(Collectors.joining("; "));
  }

  /** The tokens for the servers of further vGPUs, with the rights of the first one's. */
  private List<PayloadFile> furtherTokens() {
    String group = guest.setup().group().map(Name::text).orElse(ROOT);
    int mode = guest.setup().group().isPresent() ? 0640 : 0600;
    return guest.vgpus().stream()
        .skip(1)
        .map(VGpu::gpu)
        .map(gpu -> PayloadFile.secret(servers.token(guest, gpu), inGuest(gpu), mode))
        .map(file -> file.inGroup(group))
        .toList();
  }

  private String inGuest(Name gpu) {
    return Payload.token(guest.further(gpu).map(Name::text));
  }

  private Variables client() {
    Optional<Name> group = guest.setup().group();
    List<GuestChannels> channels = GuestChannels.of(input, guest);
    boolean plain = channels.stream().allMatch(GuestChannels::needsNoEncryption);
    return common()
        .with(Variables.SERVER, addresses())
        .with(Variables.ENCRYPTION, plain ? "encryption = never\n" : "")
        .with(Variables.RDMA_PORTS, rdmaPorts(channels))
        .with(Variables.TOKEN, servers.token(guest, guest.vgpus().get(0).gpu()).toString())
        .with(Variables.TOKEN_FILES, eachServer(this::inGuest))
        .with(Variables.GROUP, group.map(Name::text).orElse(ROOT))
        .with(Variables.TOKEN_MODE, group.isPresent() ? "0640" : "0600");
  }

  /**
   * The line of the client's configuration that restricts rdma to the guest's virtual functions.
   * Empty where the port of one of them is not known; UCX then uses what it finds.
   */
  private String rdmaPorts(List<GuestChannels> channels) {
    List<PortName> ports = input.devices().of(guest.name()).ports();
    boolean used = channels.stream().anyMatch(one -> one.usable().contains(Channel.RDMA));
    return !used || ports.isEmpty() ? "" : "rdma-ports = " + PortName.list(ports) + "\n";
  }

  private Variables server(Gpu gpu) {
    String memory = gpu.memory().map(m -> "--memory " + m + " ").orElse("");
    List<PortName> ports = servers.rdmaPorts(gpu);
    String rdma = ports.isEmpty() ? "" : " --rdma-ports " + PortName.list(ports);
    List<String> options = ServerOptions.of(gpu, AUDIT);
    String limits = options.isEmpty() ? "" : " " + String.join(" ", options);
    return common()
        .with("port", String.valueOf(servers.port(gpu)))
        .with("device", gpu.device().kind() == GpuDevice.Kind.SOFTWARE ? "software" : "gpu")
        .with("options", memory + "--spare " + gpu.server().spare() + rdma + limits);
  }

  private Variables given(BundleUse use) {
    Variables variables = common();
    if (use.files().isPresent()) {
      variables =
          variables.with(Variables.FILES, input.file().resolve(use.files().get()).toString());
    }
    for (String setting : use.set()) {
      int equals = setting.indexOf('=');
      variables = variables.with(setting.substring(0, equals), setting.substring(equals + 1));
    }
    return variables;
  }
}
