package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.health.GpuState;
import graft.remoting.server.protocol.HandshakeStatus;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * The server's counters, as Prometheus reads them. A session is counted among the current ones or
 * among the ended ones at any time, so that no counter ever falls. Thread-safe.
 */
public final class ServerMetrics {
  /** The most guests, on one device each, that have figures of their own. */
  static final int MOST_GUESTS = 256;

  /**
   * The guest that stands for all further ones. Without a tokens file clients choose their names,
   * and there could be any number of them. No name of a tokens file has a space.
   */
  static final String OTHERS = "other guests";

  private static final String LOST = "connection_lost";

  /** The figures of sessions that have ended, by guest and device. */
  @GuardedBy("this")
  private final Map<Labels, GuestMetrics> ended = new TreeMap<>(Labels.ORDER);

  /** The bytes of sessions that have ended, by channel. */
  @GuardedBy("this")
  private final Map<String, Traffic> traffic = new TreeMap<>();

  @GuardedBy("this")
  private final Set<ServedSession> current = new LinkedHashSet<>();

  @GuardedBy("this")
  private final Map<String, Long> refused = new LinkedHashMap<>();

  @GuardedBy("this")
  private long overruns;

  /** A guest on a device; the UUID is that of the device as NVML names it, empty if it has none. */
  private record Labels(String guest, String gpu, String uuid) {
    static final Comparator<Labels> ORDER =
        Comparator.comparing(Labels::guest).thenComparing(Labels::gpu).thenComparing(Labels::uuid);

    static Labels of(ServedSession session) {
      return new Labels(session.name(), session.device().toString(), session.uuid());
    }

    Labels ofOthers() {
      return new Labels(OTHERS, gpu, uuid);
    }

    Map<String, String> direction(String direction) {
      Map<String, String> labels = map();
      labels.put("direction", direction);
      return labels;
    }

    Map<String, String> map() {
      Map<String, String> labels = new LinkedHashMap<>();
      labels.put("guest", guest);
      labels.put("gpu", gpu);
      labels.put("UUID", uuid);
      return labels;
    }
  }

  private record Traffic(long in, long out) {
    static Traffic of(ServedSession session) {
      return new Traffic(session.used().bytesIn(), session.used().bytesOut());
    }

    Traffic plus(Traffic other) {
      return new Traffic(in + other.in, out + other.out);
    }
  }

  /** Begins with counters of 0. */
  public ServerMetrics() {
    for (HandshakeStatus status : HandshakeStatus.values()) {
      if (status != HandshakeStatus.OK && status != HandshakeStatus.WAITING) {
        refused.put(reason(status), 0L);
      }
    }
    refused.put(LOST, 0L);
  }

  private static String reason(HandshakeStatus status) {
    return status.name().toLowerCase(Locale.ROOT);
  }

  /** A worker is about to serve a session. */
  public synchronized void sessionStarted(ServedSession session) {
    ended.putIfAbsent(labels(session), GuestMetrics.NONE);
    current.add(session);
  }

  /** The worker of a session has ended. */
  synchronized void sessionEnded(ServedSession session) {
    if (current.remove(session)) {
      ended.merge(labels(session), GuestMetrics.ended(session), GuestMetrics::plus);
      traffic.merge(session.client().channel(), Traffic.of(session), Traffic::plus);
    }
  }

  /** A connection was refused for this reason. */
  public synchronized void connectionRefused(HandshakeStatus status) {
    refused.merge(reason(status), 1L, Long::sum);
  }

  /** The watchdog has ended a session. */
  public synchronized void watchdogEnded() {
    overruns++;
  }

  /** A connection ended before it was a session's. */
  public synchronized void connectionLost() {
    refused.merge(LOST, 1L, Long::sum);
  }

  @GuardedBy("this")
  private Labels labels(ServedSession session) {
    Labels labels = Labels.of(session);
    return ended.containsKey(labels) || ended.size() < MOST_GUESTS ? labels : labels.ofOthers();
  }

  /**
   * Returns the page of metrics.
   *
   * @param waiting how many clients wait for a place
   * @param gpus the health of the GPUs that the server serves
   */
  public synchronized String page(int readyWorkers, int waiting, List<GpuState> gpus) {
    Map<Labels, GuestMetrics> guests = new TreeMap<>(Labels.ORDER);
    guests.putAll(ended);
    Map<String, Traffic> channels = new TreeMap<>(traffic);
    for (ServedSession session : current) {
      guests.merge(labels(session), GuestMetrics.current(session), GuestMetrics::plus);
      channels.merge(session.client().channel(), Traffic.of(session), Traffic::plus);
    }
    MetricsPage page = new MetricsPage();
    guests(page, guests);
    page.counter("graft_received_bytes_total", "Bytes that sessions received from their clients.");
    channels.forEach((channel, bytes) -> page.sample(Map.of("channel", channel), bytes.in));
    page.counter("graft_sent_bytes_total", "Bytes that sessions sent to their clients.");
    channels.forEach((channel, bytes) -> page.sample(Map.of("channel", channel), bytes.out));
    page.counter("graft_refused_total", "Connections that did not become a session's.");
    refused.forEach((reason, count) -> page.sample(Map.of("reason", reason), count));
    page.counter("graft_watchdog_ended_total", "Sessions that the watchdog has ended.")
        .sample(overruns);
    page.gauge("graft_sessions_waiting", "Clients that wait for a place.").sample(waiting);
    page.gauge("graft_workers_ready", "Workers that are ready for a session.").sample(readyWorkers);
    GpuMetrics.write(page, gpus);
    return page.toString();
  }

  private static void guests(MetricsPage page, Map<Labels, GuestMetrics> guests) {
    page.gauge("graft_sessions", "Sessions that are served now.");
    samples(page, guests, GuestMetrics::sessions);
    page.counter("graft_sessions_total", "Sessions since the server's start.");
    samples(page, guests, GuestMetrics::started);
    page.counter(
        "graft_session_faults_total",
        "Sessions whose worker ended without a reason, as by a crash.");
    samples(page, guests, GuestMetrics::faults);
    page.counter("graft_session_gpu_seconds_total", "GPU time of a guest's sessions.");
    guests.forEach((labels, guest) -> page.seconds(labels.map(), guest.used()));
    page.counter(
        "graft_session_copy_seconds_total", "GPU time with nothing but copies in one direction.");
    guests.forEach(
        (labels, guest) -> {
          page.seconds(labels.direction("to_device"), guest.copiedTo());
          page.seconds(labels.direction("from_device"), guest.copiedFrom());
        });
    page.counter("graft_lease_wait_seconds_total", "Time for which sessions waited for the GPU.");
    guests.forEach((labels, guest) -> page.seconds(labels.map(), guest.waited()));
    page.counter("graft_calls_total", "Calls that were executed.");
    samples(page, guests, GuestMetrics::calls);
    page.counter("graft_round_trips_total", "Calls for whose answer the client waited.");
    samples(page, guests, GuestMetrics::roundTrips);
    page.gauge("graft_vgpu_memory_used_bytes", "Device memory of a guest's sessions together.");
    samples(page, guests, GuestMetrics::memory);
    page.gauge(
        "graft_vgpu_memory_limit_bytes", "The most device memory of a guest that has sessions.");
    guests.forEach(
        (labels, guest) -> {
          if (guest.limit() > 0) {
            page.sample(labels.map(), guest.limit());
          }
        });
  }

  private static void samples(
      MetricsPage page, Map<Labels, GuestMetrics> guests, ToLongFunction<GuestMetrics> figure) {
    guests.forEach((labels, guest) -> page.sample(labels.map(), figure.applyAsLong(guest)));
  }
}
