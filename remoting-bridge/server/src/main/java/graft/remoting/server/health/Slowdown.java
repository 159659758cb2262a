package graft.remoting.server.health;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** Why a GPU's clocks are low although it has work, from NVML's clocks event reasons. */
public enum Slowdown {
  HARDWARE(0x8),
  SOFTWARE_THERMAL(0x20),
  HARDWARE_THERMAL(0x40),
  POWER_BRAKE(0x80);

  private final long bit;

  Slowdown(long bit) {
    this.bit = bit;
  }

  /** The reasons of NVML's mask that are slowdowns; idle clocks and power limits are none. */
  static Set<Slowdown> of(long mask) {
    Set<Slowdown> found = EnumSet.noneOf(Slowdown.class);
    for (Slowdown slowdown : values()) {
      if ((mask & slowdown.bit) != 0) {
        found.add(slowdown);
      }
    }
    return found;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
