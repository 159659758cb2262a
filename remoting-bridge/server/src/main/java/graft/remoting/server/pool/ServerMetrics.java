package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.control.ControlMessage;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/** The server's counters, written in Prometheus' text exposition format 0.0.4. */
public final class ServerMetrics {
  /** The most guests and devices for which times are kept when their sessions have ended. */
  private static final int MOST_GUESTS = 1000;

  private static final double NANOS = 1e9;

  private final AtomicLong sessions = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong overruns = new AtomicLong();
  private final AtomicLong bytesIn = new AtomicLong();
  private final AtomicLong bytesOut = new AtomicLong();
  private final AtomicLong calls = new AtomicLong();

  /** The figures of the ended sessions of each guest. */
  @GuardedBy("this")
  private final Map<Labels, GpuTime> ended = new TreeMap<>();

  /** A guest on a device. */
  private record Labels(String guest, String gpu) implements Comparable<Labels> {
    @Override
    public int compareTo(Labels other) {
      int order = guest.compareTo(other.guest);
      return order != 0 ? order : gpu.compareTo(other.gpu);
    }

    static Labels of(ServedSession session) {
      return new Labels(session.name(), session.device().toString());
    }

    @Override
    public String toString() {
      return "{guest=\"" + escape(guest) + "\",gpu=\"" + escape(gpu) + "\"}";
    }
  }

  /** The GPU time that sessions have used and waited for, in nanoseconds. */
  private record GpuTime(long used, long waited) {
    static GpuTime of(ServedSession session) {
      return new GpuTime(session.lease().used(), session.lease().waited());
    }

    GpuTime plus(GpuTime other) {
      return new GpuTime(used + other.used, waited + other.waited);
    }
  }

  public void sessionStarted() {
    sessions.incrementAndGet();
  }

  public void connectionRefused() {
    refused.incrementAndGet();
  }

  /** The watchdog has ended a session. */
  public void watchdogEnded() {
    overruns.incrementAndGet();
  }

  /** Adds the figures of an ended session to the totals. */
  void sessionEnded(ServedSession session) {
    ControlMessage.Used used = session.used();
    bytesIn.addAndGet(used.bytesIn());
    bytesOut.addAndGet(used.bytesOut());
    calls.addAndGet(used.calls());
    synchronized (this) {
      // Without a tokens file clients choose their names, and there could be any number.
      boolean room = ended.size() < MOST_GUESTS || ended.containsKey(Labels.of(session));
      if (room) {
        ended.merge(Labels.of(session), GpuTime.of(session), GpuTime::plus);
      }
    }
  }

  /**
   * Returns the page of metrics: the totals since the server's start, and the figures of each
   * session that is served now.
   *
   * @param waiting how many connections wait for a place
   */
  public String page(List<ServedSession> current, int readyWorkers, int waiting) {
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
    metric(page, "graft_sessions_waiting", "gauge", "Clients that wait for a place.", waiting);
    metric(page, "graft_sessions_total", "counter", "Sessions since start.", sessions.get());
    metric(page, "graft_refused_total", "counter", "Connections refused.", refused.get());
    metric(
        page,
        "graft_watchdog_ended_total",
        "counter",
        "Sessions that the watchdog has ended.",
        overruns.get());
    metric(page, "graft_workers_ready", "gauge", "Workers ready for a session.", readyWorkers);
    metric(page, "graft_received_bytes_total", "counter", "Bytes from clients.", in);
    metric(page, "graft_sent_bytes_total", "counter", "Bytes to clients.", out);
    metric(page, "graft_calls_total", "counter", "Calls executed.", done);
    head(page, "graft_session_memory_bytes", "gauge", "Device memory of a session.");
    for (ServedSession session : current) {
      page.append("graft_session_memory_bytes{name=\"")
          .append(escape(session.name()))
          .append("\",session=\"")
          .append(Long.toHexString(session.id()))
          .append("\"} ")
          .append(session.used().memory())
          .append('\n');
    }
    gpuTimes(page, current);
    return page.toString();
  }

  private void gpuTimes(StringBuilder page, List<ServedSession> current) {
    Map<Labels, GpuTime> times;
    synchronized (this) {
      times = new TreeMap<>(ended);
    }
    current.forEach(s -> times.merge(Labels.of(s), GpuTime.of(s), GpuTime::plus));
    head(page, "graft_session_gpu_seconds_total", "counter", "GPU time of a guest's sessions.");
    times.forEach((of, time) -> seconds(page, "graft_session_gpu_seconds_total", of, time.used()));
    head(page, "graft_lease_wait_seconds_total", "counter", "Time for which sessions waited.");
    times.forEach((of, time) -> seconds(page, "graft_lease_wait_seconds_total", of, time.waited()));
  }

  private static void seconds(StringBuilder page, String name, Labels labels, long nanos) {
    page.append(name).append(labels).append(' ').append(nanos / NANOS).append('\n');
  }

  private static String escape(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"");
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
