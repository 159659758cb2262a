package graft.remoting.server.share;

import graft.remoting.server.exchange.LeasePage;

/** The lease of a session whose page this server has, its own session's or a follower's. */
abstract class PageLease implements Lease {
  final LeasePage page;

  PageLease(LeasePage page) {
    this.page = page;
  }

  @Override
  public final void grant(LeasePage.Queueing queueing) {
    page.grant(queueing);
    announce();
  }

  @Override
  public final void revoke() {
    page.revoke();
  }

  @Override
  public final boolean isBusy() {
    return page.isRunning();
  }

  @Override
  public final boolean isWaiting() {
    return page.isWaiting();
  }
}
