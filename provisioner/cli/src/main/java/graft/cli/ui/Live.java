package graft.cli.ui;

import graft.cli.session.Servers;
import graft.cli.session.SharesGot;
import graft.common.program.CurrentUser;
import graft.deployment.OperatedServer;
import graft.deployment.state.StateFolder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the servers answer now, as {@code graft sessions} asks them.
 *
 * @param got the part of the GPU's time that each session got, by {@link SharesGot#key}
 */
record Live(List<Servers.Answer> answers, Map<String, Double> got) {
  private static final Duration LIMIT = Duration.ofSeconds(2);

  static Live look(SharesGot shares) {
    List<Servers.Answer> answers =
        servers().stream().map(server -> Servers.ask(server, LIMIT)).toList();
    return new Live(answers, shares.look(answers));
  }

  /** The servers of this user. A deployment that cannot be read must not hide the others. */
  private static List<OperatedServer> servers() {
    List<OperatedServer> all = new ArrayList<>();
    for (var folder : StateFolder.folders(CurrentUser.stateFolder(System.getenv()))) {
      try {
        all.addAll(OperatedServer.of(StateFolder.sound(folder)));
      } catch (RuntimeException e) {
        // the status of the deployment says so
      }
    }
    all.addAll(OperatedServer.ofServe());
    return all;
  }

  /** What a server answered, if it was asked. */
  Optional<Servers.Answer> of(String deployment, String gpu) {
    return answers.stream()
        .filter(answer -> answer.from().deployment().equals(Optional.ofNullable(deployment)))
        .filter(answer -> answer.from().name().equals(gpu))
        .findFirst();
  }

  /** The rows of the sessions of a server. */
  List<Map<String, Object>> rows(Servers.Answer answer) {
    return answer.sessions().stream().map(session -> row(answer, session)).toList();
  }

  private Map<String, Object> row(Servers.Answer answer, Map<?, ?> session) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("server", answer.from().toString());
    row.put("deployment", answer.from().deployment().orElse(null));
    for (String text : List.of("device", "guest", "session", "claimedProgram", "claimedJob")) {
      row.put(text, Cells.text(session.get(text)));
    }
    row.put("claimedPid", Cells.number(session.get("claimedPid")));
    row.put("channel", Cells.text(session.get("channel")));
    row.put("class", Cells.text(session.get("class")));
    row.put("priority", Cells.text(session.get("priority")));
    row.put("asked", Cells.part(session.get("compute")));
    row.put("got", got.get(SharesGot.key(answer, session)));
    row.put("gpuSeconds", Cells.number(session.get("gpuSeconds")));
    row.put("leaseWaitSeconds", Cells.number(session.get("leaseWaitSeconds")));
    row.put("waiting", Cells.truth(session.get("waiting")));
    row.put("memoryBytes", Cells.number(session.get("memoryBytes")));
    Number own = Cells.number(session.get("memoryLimitBytes"));
    Number ofGuest = Cells.number(session.get("guestMemoryLimitBytes"));
    row.put("memoryLimitBytes", own == null ? ofGuest : own);
    row.put("guestMemoryLimitBytes", ofGuest);
    row.put("bytesIn", Cells.number(session.get("bytesIn")));
    row.put("bytesOut", Cells.number(session.get("bytesOut")));
    row.put("since", Cells.text(session.get("since")));
    return row;
  }
}
