package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/**
 * What goes together with a guest's definition; bits from libvirt's virDomainUndefineFlagsValues.
 */
public enum UndefineOption {
  /** A saved memory image, without which libvirt refuses. */
  MANAGED_SAVE(1),
  SNAPSHOTS_METADATA(1 << 1),
  /** The UEFI variables, without which libvirt refuses for a guest that has some. */
  NVRAM(1 << 2),
  CHECKPOINTS_METADATA(1 << 4);

  private final int bit;

  UndefineOption(int bit) {
    this.bit = bit;
  }

  /**
   * Those that a driver knows; it refuses others.
   *
   * @see <a href="https://gitlab.com/libvirt/libvirt/-/blob/v9.0.0/src/libxl/libxl_driver.c">Xen's:
   *     libxlDomainUndefineFlags</a>
   */
  static Set<UndefineOption> of(LibvirtUri uri) {
    return uri.driver().equals("xen")
        ? EnumSet.of(MANAGED_SAVE)
        : EnumSet.allOf(UndefineOption.class);
  }

  static int bits(Collection<UndefineOption> options) {
    return options.stream().mapToInt(o -> o.bit).reduce(0, (a, b) -> a | b);
  }
}
