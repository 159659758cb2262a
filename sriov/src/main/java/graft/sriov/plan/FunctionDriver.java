package graft.sriov.plan;

import graft.sriov.host.PciDevice;
import java.util.Map;
import java.util.Optional;

/**
 * The host's driver of a network adapter's virtual function. A function whose physical function has
 * autoprobe off is bound by name, and some vendors have a driver of its own for functions.
 */
public final class FunctionDriver {
  /** By the physical function's driver; from the tables of device numbers in Linux's drivers. */
  private static final Map<String, String> OF_FUNCTIONS =
      Map.ofEntries(
          Map.entry("mlx5_core", "mlx5_core"),
          Map.entry("mlx4_core", "mlx4_core"),
          Map.entry("igb", "igbvf"),
          Map.entry("ixgbe", "ixgbevf"),
          Map.entry("i40e", "iavf"),
          Map.entry("ice", "iavf"),
          Map.entry("bnxt_en", "bnxt_en"),
          Map.entry("bnx2x", "bnx2x"),
          Map.entry("cxgb4", "cxgb4vf"),
          Map.entry("hns3", "hns3"),
          Map.entry("ionic", "ionic"),
          Map.entry("qede", "qede"),
          Map.entry("sfc", "sfc"));

  private FunctionDriver() {}

  /** Whether a driver makes a network interface for each function that it is bound to. */
  public static boolean isKnown(String driver) {
    return OF_FUNCTIONS.containsKey(driver) || OF_FUNCTIONS.containsValue(driver);
  }

  /** The driver that a function is bound to, if that is one of the host's. */
  public static Optional<String> present(PciDevice function) {
    return function.driver().filter(driver -> !function.boundForPassthrough());
  }

  /**
   * The driver for the virtual functions of a physical function; empty if the physical function's
   * driver is not known.
   */
  public static Optional<String> ofVirtual(PciDevice physical) {
    return physical.driver().map(OF_FUNCTIONS::get);
  }
}
