package graft.remoting.server.share;

/**
 * The right of a session to submit work to the GPU, as the arbiter sees it. What the two questions
 * answer comes from the session's worker, which may be compromised: the arbiter bounds by its own
 * clock what a wrong answer gains.
 */
interface Lease {
  /**
   * Lets the session submit work.
   *
   * @param bounded whether other guests use the GPU too, so that the session should keep the work
   *     that it queues short
   */
  void grant(boolean bounded);

  /** Forbids further work; the work that runs goes on. */
  void revoke();

  /** Returns whether work of the session runs on the GPU. */
  boolean isBusy();

  /** Returns whether the session waits for the lease. */
  boolean isWaiting();
}
