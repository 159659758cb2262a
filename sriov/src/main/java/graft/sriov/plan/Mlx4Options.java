package graft.sriov.plan;

import graft.sriov.PciAddress;
import graft.sriov.operation.StoreFile;

/**
 * The module options by which mlx4 makes its VFs when it is loaded (Linux,
 * drivers/net/ethernet/mellanox/mlx4/main.c: {@code num_vfs}, {@code probe_vf}, {@code
 * port_type_array}).
 */
public final class Mlx4Options {
  public static final String PATH = "/etc/modprobe.d/graft-mlx4.conf";

  private Mlx4Options() {}

  /**
   * The operation that writes them. They count for every mlx4 adapter of the host and only after
   * {@code mlx4_core} has been loaded again.
   *
   * @param vfs how many VFs
   * @param probed how many of them the host's own driver takes
   */
  public static StoreFile operation(PciAddress pf, int vfs, int probed) {
    return new StoreFile(pf, PATH, line(vfs, probed) + "\n");
  }

  /** Port type 1 is InfiniBand. */
  static String line(int vfs, int probed) {
    return "options mlx4_core num_vfs=" + vfs + " probe_vf=" + probed + " port_type_array=1,1";
  }
}
