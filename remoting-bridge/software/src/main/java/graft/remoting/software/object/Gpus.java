package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import java.util.List;

/**
 * The devices by their numbers.
 *
 * @param all in the order of their numbers, the first being 0
 */
public record Gpus(List<Gpu> all) implements AutoCloseable {
  public Gpus {
    all = List.copyOf(all);
  }

  public Gpu get(int device) {
    if (device < 0 || device >= all.size()) {
      throw new CudaException(CudaResult.INVALID_DEVICE, "there is no device " + device);
    }
    return all.get(device);
  }

  /** Ends all work and frees all memory. */
  @Override
  public void close() {
    for (Gpu gpu : all) {
      Context primary = gpu.takePrimary();
      if (primary != null) {
        primary.destroy();
      }
      gpu.close();
    }
  }
}
