package graft.hypervisors.libvirt;

import java.util.Collection;

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

  static int bits(Collection<UndefineOption> options) {
    return options.stream().mapToInt(o -> o.bit).reduce(0, (a, b) -> a | b);
  }
}
