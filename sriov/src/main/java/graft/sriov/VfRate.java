package graft.sriov;

/**
 * The transmit rate of a VF on an Ethernet port.
 *
 * @param minimum the guaranteed rate in Mbit/s, 0 for none
 * @param maximum the limit in Mbit/s, 0 for no limit
 */
public record VfRate(int minimum, int maximum) {
  public VfRate {
    if (minimum < 0 || maximum < 0 || (maximum != 0 && minimum > maximum)) {
      throw new IllegalArgumentException("rate from " + minimum + " to " + maximum + " Mbit/s");
    }
  }
}
