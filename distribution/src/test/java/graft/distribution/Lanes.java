package graft.distribution;

/**
 * The locks of the classes that run beside the others: one class of each lane at a time, so that at
 * most three run at once, with those that have no lane and run one after the other.
 */
final class Lanes {
  /**
   * Classes that set up this host. Most of them exclude each other anyway: they may make Graft's
   * user, or need that nobody takes it away. RegionTest is among them so that the lanes are about
   * as long as each other.
   */
  static final String HOST = "this host";

  /** Other long classes that measure no time. */
  static final String OTHERS = "a core for others";

  private Lanes() {}
}
