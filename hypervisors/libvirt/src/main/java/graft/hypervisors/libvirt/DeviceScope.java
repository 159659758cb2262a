package graft.hypervisors.libvirt;

import java.util.Collection;

/** Which of a guest's two faces a device change is for; bits from virDomainDeviceModifyFlags. */
public enum DeviceScope {
  /** The running guest. */
  LIVE(1),
  /** Its definition, from the next start on. */
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
