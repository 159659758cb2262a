package graft.remoting.server.session;

import graft.remoting.server.exchange.CodeExchange;
import graft.remoting.server.exchange.HandleExchange;

/**
 * What a session is begun with.
 *
 * @param name whose it is
 * @param memoryLimit bytes of device memory that it may have, 0 for no limit
 * @param spinMicros how long to poll for the device before sleeping, in microseconds
 * @param handles where it finds what other sessions of that name give
 * @param code where it finds code that sessions of that name have sent
 */
public record SessionTerms(
    String name, long memoryLimit, int spinMicros, HandleExchange handles, CodeExchange code) {
  /** For a session without a client. */
  public static SessionTerms unlimited(int spinMicros) {
    return new SessionTerms("", 0, spinMicros, HandleExchange.NONE, CodeExchange.NONE);
  }
}
