package graft.remoting.server.operate;

import graft.common.grants.Share;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.health.GpuHealth;
import graft.remoting.server.health.GpuState;
import graft.remoting.server.health.Slowdown;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.pool.SmallRegions;
import graft.remoting.server.pool.Worker;
import graft.remoting.server.pool.WorkerPool;
import graft.remoting.server.share.GpuShares;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The requests of operators, each with the fields of its JSON object:
 *
 * <table>
 * <caption>Requests</caption>
 * <tr><td>{@code {"request":"sessions"}}</td><td>the server, and the sessions that it serves</td></tr>
 * <tr><td>{@code {"request":"end","session":ID}}</td><td>ends a session, and answers when its worker
 * has ended</td></tr>
 * </table>
 *
 * What is not known, or not measured on the session's device, is null.
 */
public final class OperatorRequests implements OperatorSocket.Requests {
  private static final double NANOS = 1e9;

  private final WorkerPool pool;
  private final GpuShares shares;
  private final GpuHealth health;
  private final DeviceSpec device;
  private final List<String> listen;
  private final int maxSessions;
  private final Supplier<List<String>> waiting;
  private final Instant since = Instant.now();

  /**
   * Answers for one server.
   *
   * @param device the device of sessions whose token names none
   * @param listen the addresses that clients connect to
   * @param waiting returns the guest of each client that waits for a place
   */
  public OperatorRequests(
      WorkerPool pool,
      GpuShares shares,
      GpuHealth health,
      DeviceSpec device,
      List<String> listen,
      int maxSessions,
      Supplier<List<String>> waiting) {
    this.pool = pool;
    this.shares = shares;
    this.health = health;
    this.device = device;
    this.listen = List.copyOf(listen);
    this.maxSessions = maxSessions;
    this.waiting = waiting;
  }

  @Override
  public Map<String, Object> answer(Map<String, Object> request) throws RefusedRequestException {
    Object what = request.get("request");
    if ("sessions".equals(what)) {
      return sessions();
    }
    if ("end".equals(what) && request.get("session") instanceof String session) {
      return end(session);
    }
    throw new RefusedRequestException(
        "a request is \"sessions\", or \"end\" with the id of a \"session\"");
  }

  private Map<String, Object> sessions() {
    Map<String, Object> server = new LinkedHashMap<>();
    server.put("device", device.toString());
    server.put("listen", listen);
    server.put("pid", ProcessHandle.current().pid());
    server.put("since", text(since));
    server.put("maxSessions", maxSessions);
    server.put("waiting", waiting.get());
    server.put("smallRegions", pool.regions().all().stream().map(OperatorRequests::tree).toList());
    server.put("problem", health.problem(device).orElse(null));
    server.put("gpus", health.gpus().stream().map(OperatorRequests::tree).toList());
    List<Map<String, Object>> sessions =
        pool.sessions().stream()
            .sorted(Comparator.comparing(ServedSession::since))
            .map(session -> tree(session, shares.of(session.name())))
            .toList();
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("server", server);
    answer.put("sessions", sessions);
    return answer;
  }

  private Map<String, Object> end(String number) throws RefusedRequestException {
    Worker worker =
        pool.serving(session -> session.number().equals(number)).stream()
            .findFirst()
            .orElseThrow(() -> new RefusedRequestException("there is no such session"));
    ServedSession session = worker.session();
    worker.endSession("an operator has ended it");
    return tree(session, shares.of(session.name()));
  }

  /** Returns what operators see of a session. */
  static Map<String, Object> tree(ServedSession session, Optional<Share> share) {
    ServedSession.Client client = session.client();
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("session", session.number());
    tree.put("guest", client.name());
    tree.put("claimedProgram", session.program().map(program -> program.name()).orElse(null));
    tree.put("claimedPid", session.program().map(program -> program.process()).orElse(null));
    tree.put(
        "claimedJob",
        session.program().map(program -> program.job()).filter(j -> !j.isEmpty()).orElse(null));
    tree.put("peer", client.peer());
    tree.put("channel", client.channel());
    tree.put("device", session.device().toString());
    tree.put("UUID", session.uuid().isEmpty() ? null : session.uuid());
    tree.put("since", text(session.since()));
    tree.put("seconds", session.seconds());
    tree.put("class", share.map(s -> s.type().toString()).orElse(null));
    tree.put("compute", share.filter(s -> s.percent() > 0).map(Share::percent).orElse(null));
    tree.put("priority", share.map(s -> s.priority().toString()).orElse(null));
    LeasePage.GpuTime gpu = session.lease().gpuTime();
    tree.put("gpuSeconds", gpu.used() / NANOS);
    tree.put("copyToDeviceSeconds", gpu.copiedTo() / NANOS);
    tree.put("copyFromDeviceSeconds", gpu.copiedFrom() / NANOS);
    tree.put("leaseWaitSeconds", session.lease().waited() / NANOS);
    tree.put("waiting", session.lease().isWaiting());
    tree.put("memoryBytes", session.used().memory());
    tree.put("peakMemoryBytes", session.used().peak());
    tree.put("memoryLimitBytes", limit(client.limits().memory()));
    tree.put("guestMemoryLimitBytes", limit(client.limits().guestMemory()));
    tree.put("calls", session.used().calls());
    tree.put("bytesIn", session.used().bytesIn());
    tree.put("bytesOut", session.used().bytesOut());
    return tree;
  }

  private static Map<String, Object> tree(GpuState gpu) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("index", gpu.index());
    tree.put("UUID", gpu.uuid());
    tree.put("healthy", gpu.isHealthy());
    tree.put("problem", gpu.isHealthy() ? null : gpu.problem());
    Map<String, Object> xids = new TreeMap<>();
    gpu.xids().forEach((xid, count) -> xids.put(xid.toString(), count));
    tree.put("xids", xids);
    tree.put("correctedErrors", orNull(gpu.correctedErrors()));
    tree.put("uncorrectedErrors", orNull(gpu.uncorrectedErrors()));
    tree.put("slowed", gpu.slowed().stream().map(Slowdown::toString).toList());
    return tree;
  }

  private static Map<String, Object> tree(SmallRegions.SmallRegion small) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guest", small.guest());
    tree.put("regionBytes", small.region());
    tree.put("lackedBytes", small.lacked());
    tree.put("at", text(small.at()));
    return tree;
  }

  private static Long orNull(OptionalLong value) {
    return value.isPresent() ? value.getAsLong() : null;
  }

  private static Long limit(long bytes) {
    return bytes == 0 ? null : bytes;
  }

  private static String text(Instant at) {
    return at.truncatedTo(ChronoUnit.MILLIS).toString();
  }
}
