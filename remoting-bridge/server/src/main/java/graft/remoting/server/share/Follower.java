package graft.remoting.server.share;

import graft.common.grants.Share;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.system.Descriptors;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A server that follows this one: its sessions have their turns on a device from this server's
 * arbiter. The other server runs as the same user. It may have other code or be broken, so that
 * everything that it sends is checked. Not thread-safe.
 */
final class Follower {
  /** The largest number of sessions. */
  static final int MOST_SESSIONS = 4096;

  private final DeviceTurns turns;
  private final ArbiterLink link;
  private final Map<Long, RemoteLease> leases = new HashMap<>();
  private final Map<String, Share> shares = new HashMap<>();
  private String server = "";
  private boolean isKnown;
  private boolean takesTurns;

  Follower(DeviceTurns turns, ArbiterLink link) {
    this.turns = turns;
    this.link = link;
  }

  /** A session of the other server. */
  private final class RemoteLease extends PageLease {
    private final long session;
    private final String name;
    private final Watchdog watchdog;

    private RemoteLease(ArbiterMessage.Open open, LeasePage page) {
      super(page);
      this.session = open.session();
      this.name = DeviceTurns.name(server, open.guest());
      this.watchdog =
          new Watchdog(
              open.watchdog(), () -> link.sendAtOnce(new ArbiterMessage.Overrun(open.session())));
    }

    @Override
    public void announce() {
      // A worker that waits looks at the page from time to time, too.
      link.trySend(new ArbiterMessage.Wake(session), List.of());
    }

    @Override
    public Watchdog watchdog() {
      return watchdog;
    }
  }

  ArbiterLink link() {
    return link;
  }

  int sessions() {
    return leases.size();
  }

  /** Returns the shares of the guests that have sessions, by their names among all servers'. */
  Map<String, Share> shares() {
    return shares;
  }

  /** Returns whether a guest of the other server has a share. */
  boolean takesTurns() {
    return takesTurns;
  }

  /**
   * Receives one message, which has arrived.
   *
   * @return false at the end of the connection
   * @throws IOException if the other server sends what it must not send
   */
  boolean receive() throws IOException {
    ArbiterLink.Received received = link.receive();
    if (received == null) {
      return false;
    }
    if (received.message() instanceof ArbiterMessage.Open open
        && received.fds().size() == 1
        && isKnown) {
      open(open, received.fds().get(0));
      return true;
    }
    received.fds().forEach(Descriptors::discard);
    if (!received.fds().isEmpty()) {
      throw new IOException("it sent a descriptor with " + received.message());
    }
    handle(received.message());
    return true;
  }

  private void handle(ArbiterMessage message) throws IOException {
    if (message instanceof ArbiterMessage.Hello hello && !isKnown) {
      if (hello.version() != ArbiterMessage.VERSION) {
        throw new IOException("it is of another release of Graft");
      }
      server = hello.server();
      isKnown = true;
      link.sendAtOnce(new ArbiterMessage.Alive());
    } else if (message instanceof ArbiterMessage.Turns wanted && isKnown) {
      takesTurns = wanted.areTaken();
      turns.apply();
    } else if (message instanceof ArbiterMessage.Change change && isKnown) {
      if (shares.computeIfPresent(
              DeviceTurns.name(server, change.guest()), (name, old) -> change.share())
          == null) {
        throw new IOException("it changed the share of a guest that has no session");
      }
      turns.apply();
    } else if (message instanceof ArbiterMessage.End end && leases.containsKey(end.session())) {
      end(leases.remove(end.session()));
    } else if (message instanceof ArbiterMessage.Alive && isKnown) {
      link.trySend(message, List.of());
    } else if (!(message instanceof ArbiterMessage.Ask)) { // after any message all is looked at
      throw new IOException("it must not send " + message);
    }
  }

  private void open(ArbiterMessage.Open open, int fd) throws IOException {
    LeasePage page = LeasePage.received(fd);
    if (leases.size() >= MOST_SESSIONS
        || leases.containsKey(open.session())
        || open.watchdog() < 0) {
      page.close();
      throw new IOException(
          "it has too many sessions, or two of one number: " + leases.size() + ", " + open);
    }
    RemoteLease lease = new RemoteLease(open, page);
    leases.put(open.session(), lease);
    shares.put(lease.name, open.share());
    turns.admit(lease.name, open.share(), lease);
  }

  private void end(RemoteLease lease) {
    turns.dismiss(lease.name, lease);
    lease.page.close();
    if (leases.values().stream().noneMatch(other -> other.name.equals(lease.name))) {
      shares.remove(lease.name);
    }
  }

  /** Ends its sessions' turns here, and the connection, in this order. */
  void close() {
    leases.values().forEach(lease -> turns.dismiss(lease.name, lease));
    leases.values().forEach(lease -> lease.page.close());
    leases.clear();
    shares.clear();
    takesTurns = false;
    link.socket().close();
  }

  @Override
  public String toString() {
    return "server '" + server.replaceAll("\\p{Cntrl}", "?") + "'";
  }
}
