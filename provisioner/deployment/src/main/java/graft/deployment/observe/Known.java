package graft.deployment.observe;

import graft.common.values.PciAddress;
import graft.sriov.VfSettings;
import java.util.List;

/**
 * What an earlier apply is known to have done to a host.
 *
 * @param uri the libvirt connection; empty if there was none
 * @param devices whether devices of the host were changed
 * @param functions the settings of virtual functions
 */
public record Known(String uri, boolean devices, List<Function> functions) {
  /** Nothing was applied before. */
  public static final Known NOTHING = new Known("", false, List.of());

  /**
   * The settings of a virtual function, which some drivers do not report.
   *
   * @param pf its physical function
   * @param boot the boot of the host in which they were set; they are lost with it
   */
  public record Function(PciAddress pf, int index, VfSettings settings, String boot) {}
}
