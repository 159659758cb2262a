package graft.comparison.local;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The caches in which the driver and libraries keep compiled kernels: of NVRTC and the driver, of
 * Triton, torch.compile, PyTorch itself, CuPy and numba.
 */
public final class CompilerCaches {
  private CompilerCaches() {}

  /**
   * The variables that move all caches into a folder.
   *
   * @param folder an existing folder; PyTorch does not create its own
   */
  public static Map<String, String> in(String folder) {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("CUDA_CACHE_PATH", folder + "/cuda");
    variables.put("TRITON_CACHE_DIR", folder + "/triton");
    variables.put("TORCHINDUCTOR_CACHE_DIR", folder + "/inductor");
    variables.put("PYTORCH_KERNEL_CACHE_PATH", folder);
    variables.put("CUPY_CACHE_DIR", folder + "/cupy");
    variables.put("NUMBA_CACHE_DIR", folder + "/numba");
    return variables;
  }
}
