package graft.comparison.suite;

/** Which way a synthetic workload's transfers go. */
public enum Direction {
  /** From the host to the device. */
  H2D,
  /** From the device to the host. */
  D2H,
  /** In turns. */
  BOTH
}
