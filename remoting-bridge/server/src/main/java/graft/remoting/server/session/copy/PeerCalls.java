package graft.remoting.server.session.copy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Scratch;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The calls that copy between this session and one of another server. The client orders a copy at
 * both ends; each end checks its own memory, as for every other call.
 */
public final class PeerCalls implements SessionCalls.Peer {
  /** The most links of a session, also counting those that have ended. */
  private static final int MOST_LINKS = 8;

  // struct peerTicket: u64 session, secret[32], name[64].
  private static final int SECRET_AT = 8;
  private static final int SECRET = 32;
  private static final int NAME_AT = 40;
  private static final int NAME = 64;

  private final CudaDevice device;
  private final SessionState state;
  private final Opener opener;
  private final int spinMicros;
  private final Map<Integer, PeerLink> links = new ConcurrentHashMap<>();

  /** Asks the server for connections. */
  public interface Opener {
    /** Returns whether the link has connections to that session of another server. */
    boolean open(int link, long session, String name, Bytes secret);
  }

  public PeerCalls(CudaDevice device, SessionState state, Opener opener, int spinMicros) {
    this.device = device;
    this.state = state;
    this.opener = opener;
    this.spinMicros = spinMicros;
  }

  /** Returns a link, null if there may be no further one. Any thread may call this. */
  public synchronized PeerLink link(int number) {
    return links.size() < MOST_LINKS
        ? links.computeIfAbsent(number, n -> new PeerLink(n, device, state, spinMicros))
        : links.get(number);
  }

  @Override
  public int graftPeerOpen(Call call, int link, long ticket) {
    if (links.containsKey(link) || link(link) == null) {
      return CudaResult.INVALID_VALUE;
    }
    boolean opened =
        opener.open(
            link,
            Memory.getLong(ticket),
            Memory.string(ticket + NAME_AT, NAME),
            Bytes.of(Scratch.bytesAt(ticket + SECRET_AT, SECRET)));
    if (!opened) {
      links.remove(link).close();
    }
    return opened ? CudaResult.SUCCESS : CudaResult.NOT_SUPPORTED;
  }

  @Override
  public int graftPeerReceive(Call call, int link, long target, long bytes, long number) {
    PeerLink its = links.get(link);
    if (its == null || bytes <= 0 || number == 0) {
      return CudaResult.INVALID_VALUE;
    }
    long given = its.receive(target, bytes);
    Memory.putLong(number, given);
    return given == 0 ? CudaResult.NOT_PERMITTED : CudaResult.SUCCESS;
  }

  @Override
  public int graftPeerSend(Call call, int link, long number, long source, long bytes) {
    PeerLink its = links.get(link);
    return its == null || bytes <= 0
        ? CudaResult.INVALID_VALUE
        : its.send(number, source, bytes, call.slot());
  }

  @Override
  public int graftPeerAwait(Call call, int link, long number) {
    PeerLink its = links.get(link);
    return its == null ? CudaResult.INVALID_VALUE : its.await(number, call.slot());
  }

  @Override
  public int graftPeerClose(Call call, int link) {
    PeerLink its = links.get(link);
    if (its != null) {
      its.close();
    }
    return CudaResult.SUCCESS;
  }
}
