package graft.remoting.server.exchange;

import graft.remoting.server.system.Bytes;

/**
 * What permits a server to connect to a session of another server. The client that has both
 * sessions hands it over. It names no address: a server connects only to the peers that its
 * operator has named.
 *
 * @param session the id of the session
 * @param name the name by which the client is known to the session's server, at most 64 bytes
 * @param secret proves that the session's client has handed out the ticket, 32 bytes
 */
public record PeerTicket(long session, String name, Bytes secret) {
  public static final int NAME = 64;
  public static final int SECRET = 32;

  /** Checks the sizes. */
  public PeerTicket {
    if (name.length() > NAME || secret.array().length != SECRET) {
      throw new IllegalArgumentException("no ticket for a session of another server");
    }
  }
}
