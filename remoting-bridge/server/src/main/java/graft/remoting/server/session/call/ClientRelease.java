package graft.remoting.server.session.call;

import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/** A release of Graft whose clients this server serves. */
public final class ClientRelease {
  /** No function has this id. */
  static final int NO_FUNCTION = 0xFFFF;

  private final long apiHash;
  private final int[] ids;

  ClientRelease(long apiHash, List<Integer> ids) {
    this.apiHash = apiHash;
    this.ids = ids.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Returns whether clients whose API description has this hash are served. */
  public static boolean isServed(long apiHash) {
    return apiHash == Dispatcher.API_HASH || of(apiHash).isPresent();
  }

  /** Returns the earlier release whose API description has this hash. */
  public static Optional<ClientRelease> of(long apiHash) {
    return Dispatcher.EARLIER.stream().filter(release -> release.apiHash == apiHash).findFirst();
  }

  /** Returns this server's id of each function by the id that the release's clients send. */
  public IntUnaryOperator functions() {
    return id -> id < ids.length ? ids[id] : NO_FUNCTION;
  }
}
