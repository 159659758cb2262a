package graft.remoting.server.session;

import graft.remoting.server.exchange.CodeExchange;
import graft.remoting.server.exchange.HandleExchange;

/**
 * What the server decides about a session before it begins.
 *
 * @param name the name that the client authenticated by
 * @param memoryLimit the limit of device memory in bytes, 0 for none
 * @param spinMicros how long to poll for the device before sleeping, in microseconds
 * @param handles finds the handles that other sessions of the same name export
 * @param code finds the code that sessions of the same name have sent
 */
public record SessionTerms(
    String name, long memoryLimit, int spinMicros, HandleExchange handles, CodeExchange code) {
  /** Returns the terms of a session without a client. */
  public static SessionTerms unlimited(int spinMicros) {
    return new SessionTerms("", 0, spinMicros, HandleExchange.NONE, CodeExchange.NONE);
  }
}
