package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;

/**
 * What sessions of one guest have used since the server's start, and use now.
 *
 * @param started the sessions that have begun
 * @param faults those of them whose worker ended without a reason, such as by a crash
 * @param used the GPU time, in nanoseconds
 * @param copiedTo the part of it with nothing but copies to the device, in nanoseconds
 * @param copiedFrom the part of it with nothing but copies from the device, in nanoseconds
 * @param waited the time for which the sessions waited for the GPU, in nanoseconds
 * @param sessions the sessions that are served now
 * @param memory the device memory that is allocated now, in bytes
 * @param limit the most device memory that the guest may have, in bytes; 0 without a limit
 */
record GuestMetrics(
    long started,
    long faults,
    long used,
    long copiedTo,
    long copiedFrom,
    long waited,
    long calls,
    long roundTrips,
    long sessions,
    long memory,
    long limit) {
  static final GuestMetrics NONE = new GuestMetrics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** What a session that is served now has used. */
  static GuestMetrics current(ServedSession session) {
    return of(session, 1, session.used().memory(), limit(session.client().limits()), 0);
  }

  /** What a session has used that has ended. */
  static GuestMetrics ended(ServedSession session) {
    return of(session, 0, 0, 0, session.hasFailed() ? 1 : 0);
  }

  private static GuestMetrics of(
      ServedSession session, long sessions, long memory, long limit, long faults) {
    ControlMessage.Used used = session.used();
    LeasePage.GpuTime gpu = session.lease().gpuTime();
    return new GuestMetrics(
        1,
        faults,
        gpu.used(),
        gpu.copiedTo(),
        gpu.copiedFrom(),
        session.lease().waited(),
        used.calls(),
        used.roundTrips(),
        sessions,
        memory,
        limit);
  }

  /** The guest's limit; that of a session, if only sessions have one. */
  private static long limit(SessionLimits limits) {
    return limits.guestMemory() > 0 ? limits.guestMemory() : limits.memory();
  }

  GuestMetrics plus(GuestMetrics other) {
    return new GuestMetrics(
        started + other.started,
        faults + other.faults,
        used + other.used,
        copiedTo + other.copiedTo,
        copiedFrom + other.copiedFrom,
        waited + other.waited,
        calls + other.calls,
        roundTrips + other.roundTrips,
        sessions + other.sessions,
        memory + other.memory,
        Math.max(limit, other.limit));
  }
}
