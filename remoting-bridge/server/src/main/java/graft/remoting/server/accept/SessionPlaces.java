package graft.remoting.server.accept;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.ServerException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The places for sessions, with a limit for all guests together and a limit for each guest. The
 * last quarter of the places is reserved for guests of the tokens file that have no session yet, so
 * that no guest locks out the others by the number of its sessions.
 */
public final class SessionPlaces {
  /** A reserved place for a session that begins. Once served, the session is counted instead. */
  public interface Place extends AutoCloseable {
    @Override
    void close();
  }

  /** The place of a connection that begins no session, which needs none. */
  static final Place NONE = () -> {};

  private static final int KEPT_PART = 4;

  private final int most;
  private final int mostOfGuest;
  private final Grants grants;
  private final Supplier<List<ServedSession>> served;

  /** The guests whose sessions are about to begin. */
  @GuardedBy("this")
  private final List<String> entering = new ArrayList<>();

  /**
   * The places of a server.
   *
   * @param most the most sessions at one time
   * @param mostOfGuest the most sessions of one guest
   * @param served the sessions that are served now
   */
  public SessionPlaces(
      int most, int mostOfGuest, Grants grants, Supplier<List<ServedSession>> served) {
    this.most = most;
    this.mostOfGuest = mostOfGuest;
    this.grants = grants;
    this.served = served;
  }

  /**
   * Reserves a place for a session of this guest.
   *
   * @throws HandshakeException if there is no place for the guest
   * @throws ServerException when the grants cannot be read
   */
  synchronized Place reserve(String guest) throws HandshakeException, ServerException {
    List<String> holders = new ArrayList<>(entering);
    served.get().forEach(session -> holders.add(session.name()));
    long own = holders.stream().filter(guest::equals).count();
    if (own >= mostOfGuest) {
      throw busy(guest + " has its " + mostOfGuest + " sessions");
    }
    int free = most - holders.size();
    if (free <= 0) {
      throw busy("the server has its " + most + " sessions");
    }
    if (own > 0 && free <= most / KEPT_PART && free <= absent(holders)) {
      throw busy(
          "the server keeps its last " + free + " places for guests that have no session yet");
    }
    entering.add(guest);
    return () -> release(guest);
  }

  private int absent(List<String> holders) throws ServerException {
    Set<String> absent = new HashSet<>(grants.names());
    holders.forEach(absent::remove);
    return absent.size();
  }

  private static HandshakeException busy(String why) {
    return new HandshakeException(HandshakeStatus.BUSY, why + ": try later");
  }

  private synchronized void release(String guest) {
    entering.remove(guest);
  }
}
