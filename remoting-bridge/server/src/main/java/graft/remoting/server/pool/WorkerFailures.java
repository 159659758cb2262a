package graft.remoting.server.pool;

import graft.remoting.server.control.WorkerKind;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers that ended before they were ready, by their kind: a device that does not work, or a
 * library that is missing. After each failure in a row the next start has to wait, for 1, 2, 4 ...
 * 30 seconds, so that clients that try again and again do not keep the machine busy with starts. A
 * guest chooses whether it uses rdma, and its range of addresses, so that one kind's failures hold
 * up no other kind.
 *
 * <p>Spares that were ready and ended before they got a session are counted apart: the next spare
 * waits as long as a start after failures, but no client does.
 *
 * <p>The pool's lock guards it.
 */
public final class WorkerFailures {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerFailures.class);
  private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
  private static final Duration MOST_DELAY = Duration.ofSeconds(30);

  /** The failures of a kind. */
  private static final class Row {
    private long all;
    private long inRow;
    private long nextStart;
    private String reason = "";

    void add(String why, long now) {
      long delay = FIRST_DELAY.toNanos();
      for (long i = 0; i < inRow && delay < MOST_DELAY.toNanos(); i++) {
        delay *= 2;
      }
      all++;
      inRow++;
      reason = why;
      nextStart = now + Math.min(delay, MOST_DELAY.toNanos());
    }
  }

  private final LongSupplier clock;
  private final Map<WorkerKind, Row> rows = new HashMap<>();
  private final Map<WorkerKind, Row> endedSpares = new HashMap<>();

  /**
   * No failures yet.
   *
   * @param clock returns nanoseconds, as {@link System#nanoTime}
   */
  public WorkerFailures(LongSupplier clock) {
    this.clock = clock;
  }

  private Row row(WorkerKind kind) {
    return rows.computeIfAbsent(kind, k -> new Row());
  }

  /** Notes that a worker has failed; a reason that repeats is logged once. */
  void failed(WorkerKind kind, String reason) {
    Row row = row(kind);
    if (row.inRow == 0 || !reason.equals(row.reason)) {
      LOG.warn("{}", reason);
    } else {
      LOG.debug("{} (failure {} in a row)", reason, row.inRow + 1);
    }
    row.add(reason, clock.getAsLong());
  }

  /** Notes that a spare worker has ended; a reason that repeats is logged once. */
  void spareEnded(WorkerKind kind, int status) {
    Row row = endedSpares.computeIfAbsent(kind, k -> new Row());
    long now = clock.getAsLong();
    if (now - row.nextStart > MOST_DELAY.toNanos()) {
      row.inRow = 0; // the spare that took the place of the last one has lived
    }
    String reason = "a spare worker for device " + kind + " ended with status " + status;
    if (row.inRow == 0 || !reason.equals(row.reason)) {
      LOG.warn("{} before it had a session; see the log", reason);
    }
    row.add(reason, now);
  }

  /** Returns whether no spare may be started now. */
  boolean holdsUpSpares(WorkerKind kind) {
    Row row = endedSpares.get(kind);
    return isFailing(kind) || (row != null && row.nextStart - clock.getAsLong() > 0);
  }

  /** Notes that a worker is ready. */
  void succeeded(WorkerKind kind) {
    Row row = row(kind);
    if (row.inRow > 0) {
      LOG.info("workers for device {} start again, after {} failures", kind, row.inRow);
    }
    row.inRow = 0;
  }

  /** Returns the number of failures since the server began. */
  long count(WorkerKind kind) {
    return row(kind).all;
  }

  /** Returns whether the last worker failed. */
  boolean isFailing(WorkerKind kind) {
    return row(kind).inRow > 0;
  }

  /** Returns why the last worker failed. */
  String reason(WorkerKind kind) {
    return row(kind).reason;
  }

  /** Returns why no worker may be started now; empty if one may. */
  Optional<String> obstacle(WorkerKind kind) {
    Row row = row(kind);
    long left = row.nextStart - clock.getAsLong();
    return row.inRow > 0 && left > 0
        ? Optional.of(
            row.reason
                + "; the server tries again in "
                + (TimeUnit.NANOSECONDS.toSeconds(left - 1) + 1)
                + " s")
        : Optional.empty();
  }
}
