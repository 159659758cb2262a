package graft.hypervisors.libvirt;

import java.util.Collection;

/**
 * Whether a device change affects the running guest or its definition; the bits are those of
 * virDomainDeviceModifyFlags.
 */
public enum DeviceScope {
  /** The running guest. */
  LIVE(1),
  /** The guest's definition, which takes effect at the next start. */
  CONFIG(2);

  private final int bit;

  DeviceScope(int bit) {
    this.bit = bit;
  }

  static int bits(Collection<DeviceScope> scopes) {
    if (scopes.isEmpty()) {
      throw new IllegalArgumentException(
          "say whether the live guest, its definition or both change");
    }
    return scopes.stream().mapToInt(s -> s.bit).reduce(0, (a, b) -> a | b);
  }
}
