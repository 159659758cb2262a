package graft.cli.ui;

import graft.cli.session.Servers;
import graft.cli.session.SharesGot;
import graft.cli.ui.Refreshed.Seen;
import graft.common.json.Json;
import graft.deployment.OperatedServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A room whose status and sessions are files, in the form of {@code -o json}. */
final class RecordedRoom {
  private RecordedRoom() {}

  /** The room. */
  static Map<String, Object> tree() throws IOException {
    return tree(text -> text);
  }

  /**
   * The room.
   *
   * @param change what is changed in the text of both files before they are read
   */
  static Map<String, Object> tree(UnaryOperator<String> change) throws IOException {
    Instant now = Instant.now();
    return Room.tree(
        new Seen<>(status(read("status.json", change)), now, null),
        new Seen<>(live(read("sessions.json", change)), now, null));
  }

  @SuppressWarnings("unchecked")
  private static Status status(Map<String, Object> tree) {
    return new Status(
        (Map<String, Object>) tree.get("host"),
        (List<Map<String, Object>>) tree.get("deployments"),
        (List<Map<String, Object>>) tree.get("reports"));
  }

  @SuppressWarnings("unchecked")
  private static Live live(Map<String, Object> tree) {
    List<Servers.Answer> answers = new ArrayList<>();
    for (Map<String, Object> one : (List<Map<String, Object>>) tree.get("answers")) {
      OperatedServer server =
          new OperatedServer(
              Optional.ofNullable((String) one.get("deployment")),
              (String) one.get("name"),
              Path.of("/s"),
              Optional.empty());
      answers.add(new Servers.Answer(server, (Map<String, Object>) one.get("answer")));
    }
    return new Live(answers, new SharesGot().look(answers));
  }

  private static Map<String, Object> read(String name, UnaryOperator<String> change)
      throws IOException {
    try (InputStream in = RecordedRoom.class.getResourceAsStream(name)) {
      return Json.readObject(change.apply(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
    }
  }
}
