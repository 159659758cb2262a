package graft.cli;

/**
 * The locks of the classes that run beside the others: one class of each lane at a time, so that at
 * most three run at once, with those that have no lane and run one after the other.
 */
final class Lanes {
  /** Classes that set up machines, containers and disks. */
  static final String MACHINES = "machines and containers";

  /** Classes that set up guests for one purpose. */
  static final String GUESTS = "guests";

  private Lanes() {}
}
