package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The server's counters, written in Prometheus' text exposition format 0.0.4. */
public final class ServerMetrics {
  private final AtomicLong sessions = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong bytesIn = new AtomicLong();
  private final AtomicLong bytesOut = new AtomicLong();
  private final AtomicLong calls = new AtomicLong();

  public void sessionStarted() {
    sessions.incrementAndGet();
  }

  public void connectionRefused() {
    refused.incrementAndGet();
  }

  /** Adds the figures of an ended session to the totals. */
  void sessionEnded(ServedSession session) {
    ControlMessage.Used used = session.used();
    bytesIn.addAndGet(used.bytesIn());
    bytesOut.addAndGet(used.bytesOut());
    calls.addAndGet(used.calls());
  }

  /**
   * Returns the page of metrics: the totals since the server's start, and the figures of each
   * session that is served now.
   */
  public String page(List<ServedSession> current, int readyWorkers) {
    long in = bytesIn.get();
    long out = bytesOut.get();
    long done = calls.get();
    for (ServedSession session : current) {
      in += session.used().bytesIn();
      out += session.used().bytesOut();
      done += session.used().calls();
    }
    StringBuilder page = new StringBuilder();
    metric(page, "graft_sessions", "gauge", "Sessions served now.", current.size());
    metric(page, "graft_sessions_total", "counter", "Sessions since start.", sessions.get());
    metric(page, "graft_refused_total", "counter", "Connections refused.", refused.get());
    metric(page, "graft_workers_ready", "gauge", "Workers ready for a session.", readyWorkers);
    metric(page, "graft_received_bytes_total", "counter", "Bytes from clients.", in);
    metric(page, "graft_sent_bytes_total", "counter", "Bytes to clients.", out);
    metric(page, "graft_calls_total", "counter", "Calls executed.", done);
    head(page, "graft_session_memory_bytes", "gauge", "Device memory of a session.");
    for (ServedSession session : current) {
      page.append("graft_session_memory_bytes{name=\"")
          .append(session.name().replace("\\", "\\\\").replace("\"", "\\\""))
          .append("\",session=\"")
          .append(Long.toHexString(session.id()))
          .append("\"} ")
          .append(session.used().memory())
          .append('\n');
    }
    return page.toString();
  }

  private static void head(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private static void metric(
      StringBuilder page, String name, String type, String help, long value) {
    head(page, name, type, help);
    page.append(name).append(' ').append(value).append('\n');
  }
}
