package graft.remoting.server;

/** Which description of the driver API this server is built from. */
final class WireApi {
  /** The hash that a client must have too. */
  static final long HASH = 0;

  private WireApi() {}
}
