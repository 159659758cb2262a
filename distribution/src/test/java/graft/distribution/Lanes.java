package graft.distribution;

/**
 * The locks of the classes that run beside the others: one class of each lane at a time, so that at
 * most three run at once, with those that have no lane and run one after the other.
 */
final class Lanes {
  /** Classes with guests, containers or programs. */
  static final String GUESTS = "a core for guests and programs";

  /** Other long classes that measure no time. */
  static final String OTHERS = "a core for others";

  private Lanes() {}
}
