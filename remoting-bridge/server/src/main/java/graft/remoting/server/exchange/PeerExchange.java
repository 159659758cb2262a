package graft.remoting.server.exchange;

/** Connects a session to a session of another server. */
public interface PeerExchange {
  /** Connects to none. */
  PeerExchange NONE = (link, ticket) -> false;

  /**
   * Asks for connections, and returns when the session has them.
   *
   * @param link the number under which they come
   * @return false if no peer of this server has the session of that ticket
   */
  boolean open(int link, PeerTicket ticket);
}
