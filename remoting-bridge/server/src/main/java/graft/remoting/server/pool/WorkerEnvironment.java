package graft.remoting.server.pool;

import java.util.List;
import java.util.Map;

/**
 * A worker's environment: of the server's, what CUDA, UCX and the C library read. What else the
 * operator has there is none of a guest's.
 */
public final class WorkerEnvironment {
  private static final List<String> KEPT =
      List.of(
          "CUDA_",
          "NVIDIA_",
          "GRAFT_SOFTWARE_",
          "GRAFT_RDMA_",
          "GRAFT_GPUDIRECT",
          "UCX_",
          "RDMAV_",
          "MLX",
          "MALLOC_",
          "LD_LIBRARY_PATH",
          "LANG",
          "LC_",
          "TZ");

  /** Of the driver's compute cache, in bytes: it lies in the worker's own /tmp. */
  private static final long CACHE = 128L << 20;

  private WorkerEnvironment() {}

  /** Leaves in a copy of the server's environment what a worker may see. */
  public static void restrict(Map<String, String> environment) {
    environment.keySet().removeIf(name -> KEPT.stream().noneMatch(name::startsWith));
    environment.put("HOME", "/tmp");
    environment.put("CUDA_CACHE_PATH", "/tmp/cuda-cache");
    environment.putIfAbsent("CUDA_CACHE_MAXSIZE", Long.toString(CACHE));
  }
}
