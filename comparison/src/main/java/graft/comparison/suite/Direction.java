package graft.comparison.suite;

/** The direction of a synthetic workload's transfers. */
public enum Direction {
  /** From the host to the device. */
  H2D,
  /** From the device to the host. */
  D2H,
  /** Alternately in both directions. */
  BOTH
}
