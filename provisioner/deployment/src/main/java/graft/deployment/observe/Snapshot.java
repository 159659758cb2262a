package graft.deployment.observe;

import graft.deployment.state.ChannelMeasurement;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The state of the host, as far as a descriptor refers to it. Planning uses nothing else.
 *
 * @param files the files that exist, of those that the descriptor or the deployment's folders name
 * @param folders the guests' folders that exist
 * @param listening TCP ports on which something listens
 * @param servers the pid files of servers and closed networks that run
 * @param grants for each tokens file, the guests whose token it holds, with their settings
 * @param bundles what is installed in guests, besides files that the descriptor names
 * @param devices the host's devices
 * @param channels the measurements of guests' channels, by their names
 * @param services how the host starts services
 * @param machines the machines that exist already, by the names of their guests
 * @param containers what containers need
 * @param gpus the GPUs that the CUDA driver of the host shows; they are asked for only where plan
 *     chooses among them
 */
public record Snapshot(
    HostFacts host,
    LibvirtFacts libvirt,
    Map<Path, FileFacts> files,
    Set<Path> folders,
    Set<Integer> listening,
    Set<Path> servers,
    Map<Path, Map<String, String>> grants,
    InstallFacts bundles,
    DeviceFacts devices,
    Map<String, ChannelMeasurement> channels,
    ServiceFacts services,
    Map<String, MachineFacts> machines,
    ContainerFacts containers,
    List<GpuFacts> gpus) {

  public Optional<FileFacts> file(Path path) {
    return Optional.ofNullable(files.get(path));
  }

  public boolean exists(Path path) {
    return files.containsKey(path);
  }

  /** This host, had one of its guests another definition. */
  public Snapshot withDefinition(String guest, UnaryOperator<DefinitionFacts> other) {
    return libvirt
        .guest(guest)
        .flatMap(found -> found.definition().map(is -> found.with(other.apply(is))))
        .map(this::with)
        .orElse(this);
  }

  private Snapshot with(GuestFacts guest) {
    return new Snapshot(
        host,
        libvirt.with(guest),
        files,
        folders,
        listening,
        servers,
        grants,
        bundles,
        devices,
        channels,
        services,
        machines,
        containers,
        gpus);
  }
}
