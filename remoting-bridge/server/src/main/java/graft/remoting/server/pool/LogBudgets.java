package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.control.LogBudget;
import graft.remoting.server.control.WorkerLog;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;

/** The log budgets of the guests that have sessions. Thread-safe. */
final class LogBudgets {
  private static final int MANY = 1_024;

  @GuardedBy("this")
  private final Map<String, LogBudget> guests = new HashMap<>();

  /**
   * Copies the log of a worker. The log of a spare counts by itself, and the log of a session
   * counts for its guest.
   */
  void copyLog(Worker worker, PrintStream to) {
    LogBudget own = new LogBudget();
    WorkerLog.copy(
        worker.process().log(),
        to,
        "worker " + worker.pid(),
        () -> {
          ServedSession session = worker.session();
          return session == null ? own : of(session.name());
        });
  }

  private synchronized LogBudget of(String guest) {
    if (guests.size() >= MANY) {
      guests.values().removeIf(LogBudget::isFull);
    }
    return guests.computeIfAbsent(guest, name -> new LogBudget());
  }
}
