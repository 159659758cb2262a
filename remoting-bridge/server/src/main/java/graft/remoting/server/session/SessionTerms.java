package graft.remoting.server.session;

import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.exchange.HandleExchange;
import graft.remoting.server.exchange.Limit;
import graft.remoting.server.exchange.PeerExchange;
import graft.remoting.server.exchange.SessionLimits;
import java.util.function.Consumer;

/**
 * What the server decides about a session before it begins.
 *
 * @param name the name that the client authenticated by
 * @param limits the session's limits
 * @param guest counts what all sessions of the guest use
 * @param lease lets the session use the device
 * @param reached told which limit has refused something, on any thread
 * @param spinMicros how long to poll for the device before sleeping, in microseconds
 * @param handles finds the handles that other sessions of the same name export
 * @param code finds the code that sessions of the same name have sent
 * @param data finds the data that sessions of the same name have copied to the device
 * @param peers connects the session to sessions of other servers
 * @param program told which program the guest says that the session serves
 */
public record SessionTerms(
    String name,
    SessionLimits limits,
    GuestUse guest,
    GpuLease lease,
    Consumer<Limit> reached,
    int spinMicros,
    HandleExchange handles,
    ContentExchange code,
    ContentExchange data,
    PeerExchange peers,
    Consumer<GuestProgram> program) {
  /** Returns the terms of a session without a client. */
  public static SessionTerms unlimited(int spinMicros) {
    return of(SessionLimits.NONE, spinMicros);
  }

  /** Returns the terms of a session that shares nothing with others. */
  public static SessionTerms of(SessionLimits limits, int spinMicros) {
    return new SessionTerms(
        "",
        limits,
        GuestUse.unlimited(),
        GpuLease.endless(),
        which -> {},
        spinMicros,
        HandleExchange.NONE,
        ContentExchange.NONE,
        ContentExchange.NONE,
        PeerExchange.NONE,
        program -> {});
  }
}
