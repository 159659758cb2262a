package graft.deployment.gpu;

import graft.common.bind.Key;
import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.bind.RecordBinder;
import graft.common.bind.YamlFile;
import graft.hypervisors.libvirt.domain.Boot;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A description of this host's GPUs for container engines, as {@code nvidia-ctk cdi generate}
 * writes it. Of what it lists, a container gets NVIDIA's device nodes, and the files read-only.
 * Hooks are programs of container engines, and are not run.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
final class NvidiaCdi {
  private static final String KIND = "nvidia.com/gpu";
  private static final Pattern VERSION = Pattern.compile("(0\\.[3-9]|1\\.[01])\\.[0-9]+");

  /** A device node of NVIDIA's driver; others, such as those for displays, are left out. */
  private static final Pattern NODE = Pattern.compile("/dev/nvidia[a-z0-9-]*");

  private static final Pattern GPU = Pattern.compile("/dev/nvidia[0-9]+");
  private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9][A-Za-z0-9._+-]*)+");

  /**
   * Where a container has what the host has not: its init mounts over it, or the kernel fills it.
   */
  private static final Pattern ELSEWHERE = Pattern.compile("/(run|var/run|dev|proc|sys|tmp)(/.*)?");

  /** The whole file. */
  public record Whole(
      @Key("cdiVersion") String version,
      String kind,
      List<Device> devices,
      @Key("containerEdits") Optional<Edits> edits) {}

  /** A GPU under one of its names. */
  public record Device(String name, @Key("containerEdits") Edits edits) {}

  /** What a container gets. */
  public record Edits(
      List<String> env,
      @Key("deviceNodes") List<DeviceNode> nodes,
      List<Hook> hooks,
      List<Mount> mounts,
      @Key("additionalGids") List<Integer> groups) {}

  /** A device node. */
  public record DeviceNode(
      String path,
      @Key("hostPath") Optional<String> hostPath,
      Optional<String> type,
      Optional<Integer> major,
      Optional<Integer> minor,
      @Key("fileMode") Optional<Integer> mode,
      Optional<String> permissions,
      Optional<Integer> uid,
      Optional<Integer> gid) {}

  /** A program of container engines. */
  public record Hook(
      @Key("hookName") String name,
      String path,
      List<String> args,
      List<String> env,
      Optional<Integer> timeout) {}

  /** A file or folder. */
  public record Mount(
      @Key("hostPath") String source,
      @Key("containerPath") String target,
      List<String> options,
      Optional<String> type) {}

  private final Sysfs files;
  private final String path;

  private NvidiaCdi(Sysfs files, String path) {
    this.files = files;
    this.path = path;
  }

  /** What a container needs of the GPU with that number in its device node. */
  static GpuForContainer read(Sysfs files, String path, int minor) {
    return new NvidiaCdi(files, path).read(minor);
  }

  private GpuForContainer read(int minor) {
    Problems problems = new Problems();
    Whole whole =
        YamlFile.compose(path, files.read(path).orElse(""), problems)
            .map(
                root ->
                    new RecordBinder(path, problems, new Positions(new Position(path, 1, 1)))
                        .bind(root, Whole.class))
            .orElse(null);
    if (!problems.isEmpty() || whole == null) {
      return refused(problems.isEmpty() ? "it is no mapping" : problems.sorted().get(0).message());
    } else if (!whole.kind().equals(KIND) || !VERSION.matcher(whole.version()).matches()) {
      return refused("its kind is " + whole.kind() + ", version " + whole.version());
    }
    String node = "/dev/nvidia" + minor;
    return whole.devices().stream()
        .filter(device -> gpus(device.edits()).equals(Set.of(node)))
        .findFirst()
        .map(device -> edits(whole, device, node))
        .orElseGet(() -> refused("none of its devices is the GPU of " + node + " alone"));
  }

  private static Set<String> gpus(Edits edits) {
    Set<String> found = new LinkedHashSet<>();
    edits.nodes().stream()
        .map(DeviceNode::path)
        .filter(path -> GPU.matcher(path).matches())
        .forEach(found::add);
    return found;
  }

  private GpuForContainer edits(Whole whole, Device device, String gpu) {
    List<Edits> all = Stream.concat(whole.edits().stream(), Stream.of(device.edits())).toList();
    Set<String> nodes = new LinkedHashSet<>();
    List<Boot.SharedFolder> shared = new ArrayList<>();
    for (Edits edits : all) {
      for (DeviceNode node : edits.nodes()) {
        if (!NODE.matcher(node.path()).matches()) {
          continue;
        } else if (node.hostPath().filter(there -> !there.equals(node.path())).isPresent()) {
          return refused(node.path() + " is another node of the host, " + node.hostPath().get());
        } else if (!files.exists(node.path())) {
          return refused("this host has no device node " + node.path());
        } else if (GPU.matcher(node.path()).matches() && !node.path().equals(gpu)) {
          return refused("it gives " + node.path() + " to every container");
        }
        nodes.add(node.path());
      }
      for (Mount mount : edits.mounts()) {
        if (!PATH.matcher(mount.source()).matches() || !PATH.matcher(mount.target()).matches()) {
          return refused("'" + mount.source() + "' to '" + mount.target() + "' are no plain paths");
        }
        Optional<String> source = RealPath.of(files, mount.source());
        if (source.isEmpty()) {
          return refused("this host has no file " + mount.source());
        } else if (!ELSEWHERE.matcher(mount.target()).matches()) {
          shared.add(new Boot.SharedFolder(source.get(), mount.target()));
        }
      }
    }
    shared.addAll(DriverFiles.asked(shared));
    return new GpuForContainer(
        List.copyOf(nodes), shared, path + " ('" + device.name() + "')", "", "");
  }

  private GpuForContainer refused(String why) {
    return GpuForContainer.refused(
        path + " cannot be used: " + why,
        "nvidia-ctk cdi generate --output=" + path + " writes it for this host's driver");
  }
}
