package graft.sriov;

/**
 * What a VF of an Ethernet port may send.
 *
 * @param minimum Mbit/s that it is assured of, 0 for none
 * @param maximum Mbit/s that it may not pass, 0 for no limit
 */
public record VfRate(int minimum, int maximum) {
  public VfRate {
    if (minimum < 0 || maximum < 0 || (maximum != 0 && minimum > maximum)) {
      throw new IllegalArgumentException("rate from " + minimum + " to " + maximum + " Mbit/s");
    }
  }
}
