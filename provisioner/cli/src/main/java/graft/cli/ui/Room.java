package graft.cli.ui;

import graft.cli.session.Servers;
import graft.cli.terminal.Output;
import graft.cli.ui.Refreshed.Seen;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Everything that the page shows, as tables for JSON: each row of a table has the same keys, and
 * null for what is not known.
 */
final class Room {
  private static final int MOST_ROWS = 1000;

  private final List<Map<String, Object>> deployments;
  private final Live live;
  private final List<Map<String, Object>> sessions = new ArrayList<>();

  private Room(List<Map<String, Object>> deployments, Live live) {
    this.deployments = deployments;
    this.live = live;
    live.answers().forEach(answer -> sessions.addAll(live.rows(answer)));
  }

  /** The room as it was seen. A part that nobody has looked at yet is empty, and its time null. */
  static Map<String, Object> tree(Seen<Status> status, Seen<Live> live) {
    Status known =
        status.value() == null ? new Status(Map.of(), List.of(), List.of()) : status.value();
    Live answers = live.value() == null ? new Live(List.of(), Map.of()) : live.value();
    Room room = new Room(known.deployments(), answers);
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("host", known.host());
    tree.put("status", status.tree());
    tree.put("live", live.tree());
    tree.put("deployments", cut(room.deployments()));
    tree.put("gpus", cut(room.gpus()));
    tree.put("guests", cut(room.guests()));
    tree.put("sessions", cut(room.sessions));
    tree.put("plan", cut(room.plan()));
    tree.put("reports", known.reports());
    return Output.withVersion(tree);
  }

  /** A page with more rows than a person can read would only be slow. */
  private static List<Map<String, Object>> cut(List<Map<String, Object>> rows) {
    return rows.size() > MOST_ROWS ? rows.subList(0, MOST_ROWS) : rows;
  }

  private List<Map<String, Object>> deployments() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Map<String, Object> deployment : deployments) {
      boolean damaged = "damaged".equals(deployment.get("state"));
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("deployment", Cells.text(deployment.get("deployment")));
      row.put("state", Cells.text(deployment.get("state")));
      row.put("drift", drift(deployment));
      row.put("wrong", damaged ? null : Cells.objects(deployment.get("findings")).size());
      row.put("guests", damaged ? null : Cells.objects(deployment.get("guests")).size());
      row.put("servers", damaged ? null : Cells.objects(deployment.get("servers")).size());
      row.put("uri", orNull(deployment.get("uri")));
      row.put("descriptor", orNull(deployment.get("descriptor")));
      rows.add(row);
    }
    return rows;
  }

  /** {@code none}, {@code differs} or {@code unknown}, as {@code graft list} has it. */
  private static String drift(Map<String, Object> deployment) {
    if (!(deployment.get("obstacles") instanceof List<?> obstacles) || !obstacles.isEmpty()) {
      return "unknown";
    }
    return Cells.texts(deployment.get("differences")).isEmpty() ? "none" : "differs";
  }

  private static String orNull(Object text) {
    return "".equals(text) ? null : Cells.text(text);
  }

  private List<Map<String, Object>> gpus() {
    List<Map<String, Object>> rows = new ArrayList<>();
    List<Servers.Answer> left = new ArrayList<>(live.answers());
    for (Map<String, Object> deployment : deployments) {
      String name = Cells.text(deployment.get("deployment"));
      for (Map<?, ?> server : Cells.objects(deployment.get("servers"))) {
        String gpu = Cells.text(server.get("gpu"));
        Servers.Answer answer = live.of(name, gpu).orElse(null);
        left.remove(answer);
        rows.add(gpu(name + "/" + gpu, server, answer));
      }
    }
    left.forEach(answer -> rows.add(gpu(answer.from().toString(), Map.of(), answer)));
    return rows;
  }

  /**
   * A server and its GPU.
   *
   * @param known what its deployment's journal says of it; empty for a server without one
   * @param answer null if it was not asked
   */
  private Map<String, Object> gpu(String name, Map<?, ?> known, Servers.Answer answer) {
    boolean answers = answer != null && !answer.isError();
    Map<?, ?> said =
        answers && answer.tree().get("server") instanceof Map<?, ?> server ? server : Map.of();
    List<Map<String, Object>> sessions = answers ? live.rows(answer) : List.of();
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("server", name);
    row.put("device", first(Cells.text(said.get("device")), Cells.text(known.get("device"))));
    row.put("state", first(Cells.text(known.get("state")), answers ? "running" : null));
    row.put("answers", answer == null ? Cells.truth(known.get("answers")) : (Object) answers);
    row.put("problem", answers ? problem(said) : error(answer));
    List<String> listen = Cells.texts(said.get("listen"));
    row.put("listen", listen.isEmpty() ? Cells.texts(known.get("listen")) : listen);
    row.put("pid", first(Cells.number(said.get("pid")), Cells.number(known.get("pid"))));
    row.put("since", Cells.text(said.get("since")));
    row.put("sessions", answers ? sessions.size() : null);
    row.put("maxSessions", Cells.number(said.get("maxSessions")));
    row.put("waiting", answers ? answer.waiting().size() : null);
    row.put("got", answers ? total(sessions, "got") : null);
    row.put("memoryBytes", answers ? total(sessions, "memoryBytes") : null);
    return row;
  }

  /**
   * Why the server takes no sessions, or which of its GPUs are not healthy; null if all is well.
   */
  private static String problem(Map<?, ?> said) {
    List<String> problems = new ArrayList<>();
    if (Cells.text(said.get("problem")) != null) {
      problems.add(Cells.text(said.get("problem")));
    }
    for (Map<?, ?> gpu : Cells.objects(said.get("gpus"))) {
      String problem = Cells.text(gpu.get("problem"));
      if (problem != null && !problems.contains(problem)) {
        problems.add(problem);
      }
    }
    return problems.isEmpty() ? null : String.join("; ", problems);
  }

  private static String error(Servers.Answer answer) {
    return answer == null ? null : Cells.text(answer.tree().get("error"));
  }

  private static <T> T first(T one, T other) {
    return one == null ? other : one;
  }

  /** The sum over the sessions; 0 without sessions, and null if it is unknown of one. */
  private static Number total(List<Map<String, Object>> sessions, String key) {
    List<Number> values = new ArrayList<>();
    sessions.forEach(session -> values.add(Cells.number(session.get(key))));
    return sessions.isEmpty() ? Double.valueOf(0) : Cells.sum(values);
  }

  private List<Map<String, Object>> guests() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Map<String, Object> deployment : deployments) {
      String name = Cells.text(deployment.get("deployment"));
      boolean asked =
          live.answers().stream()
              .filter(answer -> !answer.isError())
              .anyMatch(answer -> answer.from().deployment().stream().anyMatch(name::equals));
      for (Map<?, ?> guest : Cells.objects(deployment.get("guests"))) {
        rows.add(guest(name, guest, asked));
      }
    }
    return rows;
  }

  /**
   * A guest.
   *
   * @param asked whether a server of its deployment has answered, so that its sessions are known
   */
  private Map<String, Object> guest(String deployment, Map<?, ?> guest, boolean asked) {
    String name = Cells.text(guest.get("name"));
    List<Map<String, Object>> own =
        sessions.stream()
            .filter(session -> Objects.equals(session.get("deployment"), deployment))
            .filter(session -> Objects.equals(session.get("guest"), name))
            .toList();
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("deployment", deployment);
    row.put("guest", name);
    row.put("state", Cells.text(guest.get("state")));
    row.put("since", Cells.text(guest.get("since")));
    row.put("answers", Cells.truth(guest.get("answers")));
    row.put("client", Cells.text(guest.get("client")));
    row.put("machine", Cells.text(guest.get("machine")));
    row.put(
        "cuda",
        guest.get("cuda") instanceof Map<?, ?> cuda ? Cells.text(cuda.get("result")) : null);
    row.put("sessions", asked ? own.size() : null);
    row.put("class", any(own, "class"));
    row.put("asked", any(own, "asked"));
    row.put("got", asked ? total(own, "got") : null);
    row.put("memoryBytes", asked ? total(own, "memoryBytes") : null);
    row.put("memoryLimitBytes", any(own, "guestMemoryLimitBytes"));
    return row;
  }

  private static Object any(List<Map<String, Object>> sessions, String key) {
    return sessions.stream().map(s -> s.get(key)).filter(Objects::nonNull).findFirst().orElse(null);
  }

  private List<Map<String, Object>> plan() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Map<String, Object> deployment : deployments) {
      String name = Cells.text(deployment.get("deployment"));
      List<String> obstacles = Cells.texts(deployment.get("obstacles"));
      if (deployment.containsKey("why")) {
        rows.add(line(name, "damaged", Cells.text(deployment.get("why")), null));
      }
      obstacles.forEach(why -> rows.add(line(name, "not compared", why, null)));
      Cells.texts(deployment.get("differences")).stream()
          .filter(difference -> !obstacles.contains(difference))
          .forEach(step -> rows.add(line(name, "apply would", step, null)));
      for (Map<?, ?> finding : Cells.objects(deployment.get("findings"))) {
        String what = Cells.text(finding.get("subject")) + ": " + Cells.text(finding.get("what"));
        rows.add(line(name, "wrong now", what, Cells.text(finding.get("fix"))));
      }
    }
    return rows;
  }

  private static Map<String, Object> line(String deployment, String kind, String what, String fix) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("deployment", deployment);
    row.put("kind", kind);
    row.put("what", what);
    row.put("fix", fix);
    return row;
  }
}
