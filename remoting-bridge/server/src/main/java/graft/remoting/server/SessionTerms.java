package graft.remoting.server;

/**
 * What a session is begun with.
 *
 * @param name whose it is
 * @param memoryLimit bytes of device memory that it may have, 0 for no limit
 * @param spinMicros how long to poll for the device before sleeping, in microseconds
 * @param exchange where it finds what other sessions of that name give
 */
public record SessionTerms(String name, long memoryLimit, int spinMicros, HandleExchange exchange) {
  /** For a session without a client. */
  static SessionTerms unlimited(int spinMicros) {
    return new SessionTerms("", 0, spinMicros, HandleExchange.NONE);
  }
}
