package graft.sriov.host;

import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Searches {@code /proc} in one pass for open device files and for the relevant programs. */
public final class HostProcessesReader {
  private static final Set<String> SERVICES =
      Set.of("nvidia-cuda-mps", "nvidia-persiste", "opensm", "nv-fabricmanage");

  private final Sysfs files;

  public HostProcessesReader(Sysfs files) {
    this.files = files;
  }

  /** Reads all processes that the caller may inspect; for root these are all processes. */
  public HostProcesses read() {
    List<Found> found =
        files.list("/proc").parallelStream()
            .filter(HostProcessesReader::isNumber)
            .map(this::look)
            .toList();
    Map<String, List<DeviceUser>> users = new HashMap<>();
    Set<String> services = new HashSet<>();
    for (Found one : found) {
      if (SERVICES.contains(one.command)) {
        services.add(one.command);
      }
      for (String path : one.paths) {
        users
            .computeIfAbsent(path, key -> new ArrayList<>())
            .add(new DeviceUser(one.pid, one.command, path));
      }
    }
    users.replaceAll((path, list) -> List.copyOf(list));
    return new HostProcesses(users, services);
  }

  private record Found(int pid, String command, Set<String> paths) {}

  private Found look(String pid) {
    String folder = "/proc/" + pid;
    Set<String> paths = new HashSet<>();
    for (String fd : files.list(folder + "/fd")) {
      files
          .readLink(folder + "/fd/" + fd)
          .filter(HostProcessesReader::matters)
          .ifPresent(paths::add);
    }
    return new Found(
        Integer.parseInt(pid), files.read(folder + "/comm").orElse("?").intern(), paths);
  }

  private static boolean matters(String path) {
    return path.startsWith("/dev/nvidia")
        || path.startsWith("/dev/vfio/")
        || path.startsWith("/dev/dri/")
        || path.startsWith("/dev/infiniband/")
        || path.startsWith("/dev/nvme")
        || path.startsWith("/dev/sd")
        || path.startsWith("/dev/vd");
  }

  private static boolean isNumber(String name) {
    return !name.isEmpty()
        && name.length() < 10
        && name.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
