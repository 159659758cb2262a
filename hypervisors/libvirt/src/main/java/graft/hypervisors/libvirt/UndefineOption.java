package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/**
 * State that is removed together with a guest's definition; the bits are those of libvirt's
 * virDomainUndefineFlagsValues.
 */
public enum UndefineOption {
  /** A saved memory image. If there is one, libvirt undefines the guest only with this option. */
  MANAGED_SAVE(1),
  SNAPSHOTS_METADATA(1 << 1),
  /** The UEFI variables. If the guest has any, libvirt undefines it only with this option. */
  NVRAM(1 << 2),
  CHECKPOINTS_METADATA(1 << 4);

  private final int bit;

  UndefineOption(int bit) {
    this.bit = bit;
  }

  /**
   * The options that a driver accepts; it rejects all others.
   *
   * @see <a href="https://gitlab.com/libvirt/libvirt/-/blob/v9.0.0/src/libxl/libxl_driver.c">Xen's:
   *     libxlDomainUndefineFlags</a>
   */
  static Set<UndefineOption> of(LibvirtUri uri) {
    return switch (uri.driver()) {
      case "xen" -> EnumSet.of(MANAGED_SAVE);
      case "lxc" -> EnumSet.noneOf(UndefineOption.class);
      default -> EnumSet.allOf(UndefineOption.class);
    };
  }

  static int bits(Collection<UndefineOption> options) {
    return options.stream().mapToInt(o -> o.bit).reduce(0, (a, b) -> a | b);
  }
}
