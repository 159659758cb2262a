package graft.remoting.server.pool;

import graft.remoting.server.transport.Tls;
import java.util.List;
import java.util.Map;

/**
 * A worker's environment: the variables of the server's environment that CUDA, UCX and the C
 * library read. Other variables of the operator must not be visible to a guest.
 */
public final class WorkerEnvironment {
  /** The variable that keeps the sensors of the GPU from guests if it is {@code off}. */
  public static final String SENSORS = "GRAFT_SENSORS";

  /** The variable that tells the driver how many connections to a GPU to make. */
  static final String CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS";

  private static final List<String> KEPT =
      List.of(
          "CUDA_",
          "NVIDIA_",
          "GRAFT_SOFTWARE_",
          "GRAFT_RDMA_",
          "GRAFT_GPUDIRECT",
          Tls.KERNEL,
          WorkerEnvironment.SENSORS,
          "UCX_",
          "RDMAV_",
          "MLX",
          "MALLOC_",
          "LD_LIBRARY_PATH",
          "LANG",
          "LC_",
          "TZ");

  /** The size of the driver's compute cache, in bytes. The cache lies in the worker's own /tmp. */
  private static final long CACHE = 128L << 20;

  private WorkerEnvironment() {}

  /** Removes the variables that a worker may not see from a copy of the server's environment. */
  public static void restrict(Map<String, String> environment) {
    environment.keySet().removeIf(name -> KEPT.stream().noneMatch(name::startsWith));
    environment.put("HOME", "/tmp");
    environment.put("CUDA_CACHE_PATH", "/tmp/cuda-cache");
    environment.putIfAbsent("CUDA_CACHE_MAXSIZE", Long.toString(CACHE));
  }
}
