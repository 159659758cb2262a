package graft.remoting.server.share;

import graft.remoting.server.exchange.LeasePage;

/**
 * The right of a session to submit work to the GPU, as the arbiter sees it. What the two questions
 * answer comes from the session's worker, which may be compromised: the arbiter bounds by its own
 * clock what a wrong answer gains.
 */
interface Lease {
  /**
   * Lets the session submit work.
   *
   * @param queueing how much work the session may queue at a time
   */
  void grant(LeasePage.Queueing queueing);

  /** Says that the lease comes soon, so that the session is awake by then. */
  void announce();

  /** Forbids further work; the work that runs goes on. */
  void revoke();

  /** Returns whether work of the session runs on the GPU. */
  boolean isBusy();

  /** Returns whether the session waits for the lease. */
  boolean isWaiting();

  /** Returns what notices that the session's work does not end. */
  Watchdog watchdog();
}
