package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GpuEngine;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.health.GpuHealthModel;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of metrics. */
final class ServerMetricsTest {
  private static final String UUID = "GPU-00000000-0000-0000-0000-000000000001";
  private static final Pattern SAMPLE =
      Pattern.compile("([a-z_]+)(?:\\{((?:[A-Za-z]+=\"(?:[^\"\\\\]|\\\\.)*\",?)+)})? [0-9.E-]+");
  private static final Pattern LABEL = Pattern.compile("([A-Za-z]+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  private final ServerMetrics metrics = new ServerMetrics();
  private long ids;

  private ServedSession session(String guest, SessionLimits limits) {
    return session(guest, limits, LeasePage.none());
  }

  private ServedSession session(String guest, SessionLimits limits, LeasePage lease) {
    ServedSession session =
        new ServedSession(
            ++ids,
            Bytes.of(new byte[32]),
            new ServedSession.Client(guest, "peer", "tcp", "", limits),
            DeviceSpec.parse("cuda:0"),
            lease);
    session.uuid(UUID);
    return session;
  }

  private ServedSession start(String guest) {
    ServedSession session = session(guest, SessionLimits.NONE);
    metrics.sessionStarted(session);
    return session;
  }

  private static void uses(ServedSession session, long calls, long roundTrips, long memory) {
    session.used(new ControlMessage.Used(100, 200, calls, roundTrips, memory, memory));
  }

  private static String labels(String guest) {
    return "{guest=\"" + guest + "\",gpu=\"cuda:0\",UUID=\"" + UUID + "\"} ";
  }

  @Test
  void aGuestsSessionsAreSummed() {
    uses(start("alice"), 10, 3, 4096);
    uses(start("alice"), 20, 4, 1);
    assertThat(metrics.page(0, 0, List.of()))
        .contains("graft_sessions" + labels("alice") + "2\n")
        .contains("graft_calls_total" + labels("alice") + "30\n")
        .contains("graft_round_trips_total" + labels("alice") + "7\n")
        .contains("graft_vgpu_memory_used_bytes" + labels("alice") + "4097\n")
        .contains("graft_received_bytes_total{channel=\"tcp\"} 200\n")
        .contains("graft_sent_bytes_total{channel=\"tcp\"} 400\n");
  }

  @Test
  void countersStayWhenASessionEndsAndGaugesDoNot() {
    ServedSession session = start("alice");
    uses(session, 10, 3, 4096);
    session.ending("the client has disconnected");
    String before = metrics.page(0, 0, List.of());
    metrics.sessionEnded(session);
    String after = metrics.page(0, 0, List.of());
    for (String counter :
        List.of("graft_sessions_total", "graft_calls_total", "graft_session_gpu_seconds_total")) {
      assertThat(line(after, counter)).isEqualTo(line(before, counter));
    }
    assertThat(after)
        .contains("graft_sessions" + labels("alice") + "0\n")
        .contains("graft_vgpu_memory_used_bytes" + labels("alice") + "0\n")
        .contains("graft_session_faults_total" + labels("alice") + "0\n");
  }

  /** A session of alice whose GPU copies so long in one direction, in seconds. */
  private ServedSession copying(GpuEngine engine, long seconds) throws IOException {
    AtomicLong clock = new AtomicLong();
    LeasePage page = LeasePage.create(clock::get);
    page.grant(LeasePage.Queueing.ANY);
    GpuLease worker = GpuLease.map(page.fd(), clock::get);
    worker.begin();
    worker.count(engine, 0);
    clock.set(TimeUnit.SECONDS.toNanos(seconds));
    worker.end();
    ServedSession session = session("alice", SessionLimits.NONE, page);
    metrics.sessionStarted(session);
    return session;
  }

  @Test
  void timeWithNothingButCopiesIsSummedByDirection() throws Exception {
    ServedSession first = copying(GpuEngine.COPY_TO_DEVICE, 3);
    copying(GpuEngine.COPY_TO_DEVICE, 4);
    copying(GpuEngine.COPY_FROM_DEVICE, 5);
    first.lease().close();
    metrics.sessionEnded(first);
    String labels = labels("alice").replace("} ", ",direction=");
    assertThat(metrics.page(0, 0, List.of()))
        .contains("graft_session_gpu_seconds_total" + labels("alice") + "12.0\n")
        .contains("graft_session_copy_seconds_total" + labels + "\"to_device\"} 7.0\n")
        .contains("graft_session_copy_seconds_total" + labels + "\"from_device\"} 5.0\n");
  }

  private static String line(String page, String name) {
    return page.lines().filter(line -> line.startsWith(name + "{")).findFirst().orElseThrow();
  }

  @Test
  void aWorkerThatEndsWithoutAReasonIsAFault() {
    ServedSession crashed = start("alice");
    metrics.sessionEnded(crashed);
    metrics.sessionEnded(crashed);
    ServedSession killed = start("alice");
    killed.endsBecause("an operator has ended it");
    metrics.sessionEnded(killed);
    assertThat(metrics.page(0, 0, List.of()))
        .contains("graft_session_faults_total" + labels("alice") + "1\n")
        .contains("graft_sessions_total" + labels("alice") + "2\n");
  }

  @Test
  void theLimitIsTheGuests() {
    metrics.sessionStarted(session("both", new SessionLimits(10, 0, 30, 0, 0)));
    metrics.sessionStarted(session("session", new SessionLimits(10, 0, 0, 0, 0)));
    start("none");
    assertThat(metrics.page(0, 0, List.of()))
        .contains("graft_vgpu_memory_limit_bytes" + labels("both") + "30\n")
        .contains("graft_vgpu_memory_limit_bytes" + labels("session") + "10\n")
        .doesNotContain("graft_vgpu_memory_limit_bytes" + labels("none"));
  }

  @Test
  void refusalsAreCountedByReason() {
    metrics.connectionRefused(HandshakeStatus.BUSY);
    metrics.connectionRefused(HandshakeStatus.BUSY);
    metrics.connectionLost();
    assertThat(metrics.page(0, 0, List.of()))
        .contains("graft_refused_total{reason=\"busy\"} 2\n")
        .contains("graft_refused_total{reason=\"connection_lost\"} 1\n")
        .contains("graft_refused_total{reason=\"malformed\"} 0\n");
  }

  /** Whoever may choose names, as without a tokens file, must not fill a database with them. */
  @Test
  void aFloodOfNamesDoesNotMakeMoreSeries() {
    for (int i = 0; i < ServerMetrics.MOST_GUESTS; i++) {
      metrics.sessionEnded(start("guest" + i));
    }
    start("late");
    long lines = metrics.page(0, 0, List.of()).lines().count();
    for (int i = 0; i < 10_000; i++) {
      metrics.sessionEnded(start("flood" + i));
    }
    String page = metrics.page(0, 0, List.of());
    assertThat(page.lines().count()).isEqualTo(lines);
    assertThat(page)
        .contains("graft_sessions_total" + labels(ServerMetrics.OTHERS) + "10001\n")
        .contains("graft_sessions_total" + labels("guest7") + "1\n")
        .doesNotContain("flood", "\"late\"");
  }

  @Test
  void theHealthOfGpusIsShown() {
    GpuHealthModel gpus = new GpuHealthModel(Optional.empty());
    gpus.xid(79);
    String first = "{gpu=\"0\",UUID=\"" + GpuHealthModel.FIRST + "\"";
    String second = "{gpu=\"1\",UUID=\"" + GpuHealthModel.SECOND + "\"";
    assertThat(metrics.page(0, 0, gpus.health().gpus()))
        .contains("graft_gpu_healthy" + first + "} 0\n")
        .contains("graft_gpu_healthy" + second + "} 1\n")
        .contains("graft_gpu_xid_errors_total" + first + ",xid=\"79\"} 1\n")
        .contains("graft_gpu_memory_errors_total" + second + ",kind=\"corrected\"} 3\n")
        .doesNotContain("graft_gpu_memory_errors_total" + first)
        .contains("graft_gpu_slowed" + second + ",reason=\"power_brake\"} 1\n")
        .contains("graft_gpu_slowed" + first + ",reason=\"power_brake\"} 0\n");
    assertThat(metrics.page(0, 0, List.of())).doesNotContain("graft_gpu");
  }

  @Test
  void promtoolFindsNoFault(@TempDir Path folder) throws Exception {
    Path promtool = Path.of("/usr/bin/promtool");
    assumeTrue(Files.isExecutable(promtool), "Debian's package prometheus is not installed");
    uses(start("a\"b\\c"), 1, 1, 1);
    metrics.sessionStarted(session("limited", new SessionLimits(0, 0, 30, 0, 0)));
    GpuHealthModel gpus = new GpuHealthModel(Optional.empty());
    gpus.xid(31);
    Path page = Files.writeString(folder.resolve("page"), metrics.page(3, 0, gpus.health().gpus()));
    Path said = folder.resolve("said");
    Process check =
        new ProcessBuilder(promtool.toString(), "check", "metrics")
            .redirectInput(page.toFile())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(check.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(check.exitValue()).as(Files.readString(said)).isZero();
  }

  /** What {@code promtool check metrics} reports, and the format's own rules. */
  @Test
  void thePageIsWhatPrometheusWants() {
    uses(start("a\"b\\c"), 1, 1, 1);
    metrics.sessionStarted(session("limited", new SessionLimits(0, 0, 30, 0, 0)));
    metrics.connectionRefused(HandshakeStatus.BUSY);
    Map<String, String> types = new HashMap<>();
    Set<String> series = new HashSet<>();
    String family = "";
    String help = "";
    GpuHealthModel gpus = new GpuHealthModel(Optional.empty());
    gpus.xid(31);
    for (String line : metrics.page(3, 0, gpus.health().gpus()).split("\n", -1)) {
      if (line.startsWith("# HELP ")) {
        help = line.split(" ", 4)[2];
        assertThat(line.split(" ", 4)[3]).isNotBlank();
      } else if (line.startsWith("# TYPE ")) {
        family = line.split(" ", -1)[2];
        assertThat(family).isEqualTo(help);
        assertThat(types.put(family, line.split(" ", -1)[3])).as("a family comes once").isNull();
      } else if (!line.isEmpty()) {
        Matcher sample = SAMPLE.matcher(line);
        assertThat(sample.matches()).as(line).isTrue();
        assertThat(sample.group(1)).isEqualTo(family);
        assertThat(series.add(line.substring(0, line.lastIndexOf(' ')))).as(line).isTrue();
        if (sample.group(2) != null) {
          Set<String> names = new HashSet<>();
          Matcher label = LABEL.matcher(sample.group(2));
          while (label.find()) {
            assertThat(names.add(label.group(1))).as(line).isTrue();
            assertThat(label.group(1)).doesNotContainPattern("[a-z][A-Z]");
          }
        }
      }
    }
    assertThat(types).hasSizeGreaterThan(10);
    types.forEach(
        (name, type) -> {
          assertThat(name).matches("graft(_[a-z]+)+");
          assertThat(name.endsWith("_total")).as(name).isEqualTo(type.equals("counter"));
          assertThat(name).doesNotContain("counter", "gauge").doesNotEndWith("_count");
          assertThat(name)
              .as("base units, unabbreviated")
              .doesNotContainPattern(
                  "_(milliseconds|microseconds|nanoseconds|minutes|hours|ms|us|ns|sec|s|kb|mb|gb"
                      + "|kib|mib|gib|kilobytes|megabytes|gigabytes|b|bits|percent|pct)(_|$)");
        });
  }
}
