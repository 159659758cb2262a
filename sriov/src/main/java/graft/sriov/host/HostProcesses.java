package graft.sriov.host;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The processes of a host that are relevant for its devices.
 *
 * @param users the processes that have each device file open, by the path of the file
 * @param services the relevant programs that are running, by the first 15 characters of their
 *     names: {@code nvidia-cuda-mps}, {@code nvidia-persiste}, {@code opensm}
 */
public record HostProcesses(Map<String, List<DeviceUser>> users, Set<String> services) {
  public HostProcesses {
    users = Map.copyOf(users);
    services = Set.copyOf(services);
  }

  /** The processes that have the file open. */
  public List<DeviceUser> usersOf(String path) {
    return users.getOrDefault(path, List.of());
  }

  /** Whether a control daemon or server of CUDA MPS runs. */
  public boolean mps() {
    return services.contains("nvidia-cuda-mps");
  }

  /** Whether a subnet manager runs on this host. */
  public boolean opensm() {
    return services.contains("opensm");
  }
}
