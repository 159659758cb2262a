package graft.remoting.server.session.memory;

import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.exchange.Limit;
import java.util.function.Consumer;

/**
 * The limits of a session's device memory.
 *
 * @param bytes the limit of the session, 0 for none
 * @param guest counts the device memory of all sessions of the guest
 * @param reached told which limit has refused something
 */
public record MemoryLimit(long bytes, GuestUse guest, Consumer<Limit> reached) {
  /** Returns the limit of a session whose guest has none. */
  public static MemoryLimit of(long bytes) {
    return new MemoryLimit(bytes, GuestUse.unlimited(), which -> {});
  }
}
