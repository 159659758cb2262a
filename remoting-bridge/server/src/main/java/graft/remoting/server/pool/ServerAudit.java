package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.common.audit.AuditLog;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.Limit;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The server's audit events. Of the refusals of one second only the first of each source is written
 * at once, and no more than {@link #LINES} in all; the others are counted and written as sums, so
 * that a flood of refused connections does not displace other events. Thread-safe.
 */
public final class ServerAudit {
  /** The most lines about refusals in one second; a sum for all further sources follows. */
  static final int LINES = 20;

  private static final long SECOND = 1_000_000_000L;

  private final AuditLog log;
  private final AuditLog accounts;
  private final LongSupplier nanos;

  /** The refusals of the current second that were not written, by source. */
  @GuardedBy("this")
  private final Map<String, Long> unwritten = new HashMap<>();

  @GuardedBy("this")
  private final Map<String, Boolean> seen = new HashMap<>();

  @GuardedBy("this")
  private long ofOthers;

  @GuardedBy("this")
  private long second;

  /**
   * Writes to these logs.
   *
   * @param log where all events go
   * @param accounts where only the ends of sessions go, for billing
   */
  public ServerAudit(AuditLog log, AuditLog accounts) {
    this(log, accounts, System::nanoTime);
  }

  ServerAudit(AuditLog log, AuditLog accounts, LongSupplier nanos) {
    this.log = log;
    this.accounts = accounts;
    this.nanos = nanos;
    this.second = nanos.getAsLong();
  }

  /** A session has begun. */
  public void connected(ServedSession session) {
    log.write(
        "connect",
        session.name(),
        session.peer(),
        Map.of("session", session.number(), "device", session.device().toString()));
  }

  /** A session has ended, and this is its account. */
  void ended(ServedSession session, int exitStatus) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("session", session.number());
    details.put("reason", session.reason(exitStatus));
    details.put("since", session.since().truncatedTo(ChronoUnit.MILLIS).toString());
    details.put("seconds", Math.round(session.seconds() * 10) / 10.0);
    details.put("calls", session.used().calls());
    details.put("roundTrips", session.used().roundTrips());
    details.put("bytesIn", session.used().bytesIn());
    details.put("bytesOut", session.used().bytesOut());
    details.put("channel", session.client().channel());
    details.put("device", session.device().toString());
    details.put("UUID", session.uuid());
    details.put("peakMemoryBytes", session.used().peak());
    LeasePage.GpuTime gpu = session.lease().gpuTime();
    details.put("gpuSeconds", millis(gpu.used()));
    details.put("copyToDeviceSeconds", millis(gpu.copiedTo()));
    details.put("copyFromDeviceSeconds", millis(gpu.copiedFrom()));
    details.put("leaseWaitSeconds", millis(session.lease().waited()));
    session
        .program()
        .ifPresent(
            program -> {
              details.put("claimedProgram", program.name());
              details.put("claimedPid", program.process());
              if (!program.job().isEmpty()) {
                details.put("claimedJob", program.job());
              }
            });
    log.write("session-end", session.name(), session.peer(), details);
    accounts.write("session-end", session.name(), session.peer(), details);
  }

  /** Returns nanoseconds as seconds with three decimals. */
  private static double millis(long nanos) {
    return Math.round(nanos / 1e6) / 1e3;
  }

  /** A GPU takes no new sessions any more. */
  public void gpuProblem(String uuid, String problem) {
    log.write("gpu-problem", "", "", Map.of("UUID", uuid, "reason", problem));
  }

  /** A limit has refused something in a session; only the first time is written. */
  void limited(ServedSession session, Limit limit) {
    if (session.reached(limit)) {
      log.write(
          "limit",
          session.name(),
          session.peer(),
          Map.of("session", session.number(), "reason", limit.text()));
    }
  }

  /**
   * A connection was refused.
   *
   * @param event {@code refused}, or {@code limit} if a limit was the reason
   * @param who the guest that has authenticated, empty if none has
   * @param source what refusals are counted by
   * @param peer the address of the connection
   */
  public synchronized void refused(
      String event, String who, String source, String peer, String reason) {
    writeSums();
    if (seen.containsKey(source)) {
      unwritten.merge(source, 1L, Long::sum);
    } else if (seen.size() < LINES) {
      seen.put(source, true);
      log.write(event, who, peer, Map.of("reason", reason));
    } else {
      ofOthers++;
    }
  }

  /** Writes the sums of a second that is over. */
  public synchronized void writeSums() {
    long now = nanos.getAsLong();
    if (now - second < SECOND) {
      return;
    }
    second = now;
    seen.clear();
    unwritten.forEach(
        (source, count) ->
            log.write("refused", "", source, Map.of("reason", "further ones", "count", count)));
    unwritten.clear();
    if (ofOthers > 0) {
      log.write("refused", "", "other sources", Map.of("reason", "many", "count", ofOthers));
      ofOthers = 0;
    }
  }
}
