package graft.remoting.server.share;

import graft.common.grants.Share;
import graft.remoting.server.share.ArbiterMessage.Ask;
import graft.remoting.server.share.ArbiterMessage.Change;
import graft.remoting.server.share.ArbiterMessage.End;
import graft.remoting.server.share.ArbiterMessage.Open;
import graft.remoting.server.share.ArbiterMessage.Turns;
import graft.remoting.server.share.GpuShares.SessionLease;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The turns of this server's sessions on one device. An arbiter of this server gives them, to its
 * own sessions and to those of the servers that follow it; or this server follows another one,
 * whose arbiter does so. {@link HostArbiter} decides which. Not thread-safe: all callers hold one
 * monitor.
 */
final class DeviceTurns {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceTurns.class);

  private static final int WHOLE = 100;

  /** How often the accounts are written while they change, in nanoseconds. */
  private static final long WRITE = 10_000_000;

  private final String device;
  private final String server;
  private final Map<Long, SessionLease> own = new LinkedHashMap<>();
  private final List<Follower> followers = new ArrayList<>();
  private Map<String, Share> shares;

  /** Null while this server follows another one. */
  private DeviceArbiter arbiter = new DeviceArbiter();

  /** Null while this server has an arbiter of its own. */
  private ArbiterLink leader;

  /** Null if nobody else takes over from this arbiter. */
  private Accounts accounts;

  private long written;
  private boolean isBeyond;

  /**
   * The turns of a device, by an arbiter of this server.
   *
   * @param device its name for the log
   * @param server the server's name among those of the host
   */
  DeviceTurns(String device, String server, Map<String, Share> shares) {
    this.device = device;
    this.server = server;
    this.shares = shares;
    apply();
  }

  /** Two servers may have a guest of one name. */
  static String name(String server, String guest) {
    return server.isEmpty() ? guest : server + " " + guest;
  }

  private Share share(String guest) {
    return shares.getOrDefault(guest, Share.DEFAULT);
  }

  /** Adds a session of this server. */
  void add(SessionLease lease) {
    own.put(lease.number(), lease);
    if (leader != null) {
      open(lease);
    } else {
      admit(name(server, lease.guest()), share(lease.guest()), lease);
    }
  }

  private void open(SessionLease lease) {
    leader.send(
        new Open(lease.number(), lease.guest(), share(lease.guest()), lease.watchdog().limit()),
        List.of(lease.page().fd()));
  }

  /** Adds a session to the arbiter of this server. */
  void admit(String name, Share share, Lease lease) {
    arbiter.add(name, share, lease);
    if (accounts != null) {
      inherit(name);
    }
    warn();
  }

  private void inherit(String name) {
    long lag = accounts.take(name);
    if (lag != 0) {
      arbiter.resume(name, (double) lag);
    }
  }

  /** Removes a session of this server. */
  void remove(SessionLease lease) {
    own.remove(lease.number());
    if (leader != null) {
      leader.send(new End(lease.number()), List.of());
    } else {
      arbiter.remove(name(server, lease.guest()), lease);
    }
  }

  /** Removes a session of a follower from the arbiter of this server. */
  void dismiss(String name, Lease lease) {
    arbiter.remove(name, lease);
  }

  /** Applies other shares of this server's guests. */
  void change(Map<String, Share> changed) {
    shares = changed;
    if (leader != null) {
      own.values().stream()
          .map(SessionLease::guest)
          .distinct()
          .forEach(guest -> leader.send(new Change(guest, share(guest)), List.of()));
      leader.send(new Turns(!shares.isEmpty()), List.of());
    } else {
      apply();
    }
  }

  /** Applies the shares of all guests to the arbiter of this server. */
  void apply() {
    Map<String, Share> all = new HashMap<>();
    shares.forEach((guest, share) -> all.put(name(server, guest), share));
    followers.forEach(follower -> all.putAll(follower.shares()));
    arbiter.change(all);
    arbiter.activate(!shares.isEmpty() || followers.stream().anyMatch(Follower::takesTurns));
    warn();
  }

  /** Says when guests of several servers were promised more than there is. */
  private void warn() {
    Map<String, Integer> guaranteed = arbiter.guaranteed();
    int sum = guaranteed.values().stream().mapToInt(Integer::intValue).sum();
    if (sum > WHOLE && !isBeyond) {
      LOG.warn(
          "the guaranteed shares of {} are {} percent together, and get smaller in proportion: {}",
          device,
          sum,
          guaranteed.toString().replaceAll("\\p{Cntrl}", "?"));
    }
    isBeyond = sum > WHOLE;
  }

  /** A session of this server waits for its lease. Returns whether this server decides. */
  boolean ask() {
    if (leader != null) {
      // If the link is full, the messages in it let the other server look at the page, too.
      leader.trySend(new Ask(), List.of());
    }
    return leader == null;
  }

  /** As {@link DeviceArbiter#tick}; never if another server decides. */
  long tick(long now) {
    if (leader != null) {
      return DeviceArbiter.NEVER;
    }
    long pause = arbiter.tick(now);
    if (accounts != null && (pause == DeviceArbiter.NEVER || now - written >= WRITE)) {
      written = now;
      accounts.write(arbiter, now);
    }
    return pause;
  }

  /** Returns whether another server decides. */
  boolean isFollowing() {
    return leader != null;
  }

  /** Lets the arbiter of another server decide from now on. */
  void follow(ArbiterLink link) {
    leader = link;
    arbiter = null;
    link.send(new Turns(!shares.isEmpty()), List.of());
    own.values().forEach(this::open);
  }

  /** Decides with an arbiter of this server again: the other server is not there any more. */
  void leave() {
    leader = null;
    arbiter = new DeviceArbiter();
    own.values().forEach(each -> admit(name(server, each.guest()), share(each.guest()), each));
    apply();
  }

  /** Goes on with the accounts of the device's last arbiter; others may follow from now on. */
  void lead(Accounts last) {
    accounts = last;
    own.values().forEach(each -> inherit(name(server, each.guest())));
  }

  /** Does not lead any more. */
  void resign() {
    List.copyOf(followers).forEach(this::drop);
    accounts = null;
  }

  /** Takes a server that follows this one. */
  void accept(Follower follower) {
    followers.add(follower);
  }

  /** Ends the connection of a server that follows this one, which then decides for itself. */
  void drop(Follower follower) {
    if (followers.remove(follower)) {
      follower.close();
      apply();
    }
  }

  List<Follower> followers() {
    return followers;
  }

  /** Gives leases again that an earlier arbiter, which was stopped, may have taken. */
  void grantAgain() {
    if (arbiter != null) {
      arbiter.grantAgain();
    }
  }

  /** Passes on what the other server's arbiter says of a session. */
  void hear(ArbiterMessage message) {
    if (message instanceof ArbiterMessage.Wake wake && own.containsKey(wake.session())) {
      own.get(wake.session()).announce();
    } else if (message instanceof ArbiterMessage.Overrun overrun
        && own.containsKey(overrun.session())) {
      own.get(overrun.session()).watchdog().expire();
    }
  }
}
