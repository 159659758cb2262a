package graft.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.OperatedServer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Sessions as people see them. */
class SessionTableTest {
  private static final OperatedServer SERVER =
      new OperatedServer(Optional.of("lab"), "gpu0", Path.of("/s"), Optional.empty());

  private static Map<String, Object> session(String guest, Object gpuSeconds, double seconds) {
    Map<String, Object> session = new HashMap<>();
    session.put("session", Integer.toHexString(guest.hashCode()));
    session.put("guest", guest);
    session.put("device", "software");
    session.put("gpuSeconds", gpuSeconds);
    session.put("seconds", seconds);
    session.put("memoryBytes", 1536L << 10);
    return session;
  }

  private static List<Servers.Answer> answer(List<?> sessions) {
    return List.of(new Servers.Answer(SERVER, Map.of("sessions", sessions)));
  }

  private static String row(String table, String guest) {
    return table.lines().filter(line -> line.contains(guest)).findFirst().orElseThrow();
  }

  @Test
  void theShareIsFirstThatSinceTheBeginningThenThatSinceTheLastTable() {
    SessionTable table = new SessionTable();
    String first = table.text(answer(List.of(session("alice", 2.0, 10))));
    assertThat(first).startsWith("SERVER").endsWith("* as the guest claims\n");
    assertThat(row(first, "alice")).contains("lab/gpu0").contains("20.0%").contains("1.5MiB");
    String second = table.text(answer(List.of(session("alice", 3.5, 12))));
    assertThat(row(second, "alice")).contains("75.0%");
  }

  @Test
  void whatNobodyKnowsIsNoZero() {
    String row = row(new SessionTable().text(answer(List.of(session("alice", null, 10)))), "alice");
    assertThat(row).doesNotContain("0.0%").doesNotContain("0.0s").contains("  -  ");
  }

  @Test
  void whoeverGotMostIsFirst() {
    String table =
        new SessionTable()
            .text(answer(List.of(session("alice", 1.0, 10), session("bob", 5.0, 10))));
    assertThat(table.indexOf("bob")).isLessThan(table.indexOf("alice"));
  }

  @Test
  void clientsThatWaitForAPlaceAreALineOfTheirServer() {
    Map<String, Object> server = Map.of("waiting", List.of("bob", "alice", "bob", "e\u001b[2J"));
    Servers.Answer answer =
        new Servers.Answer(SERVER, Map.of("server", server, "sessions", List.of()));
    assertThat(new SessionTable().text(List.of(answer)))
        .isEqualTo(
            "no sessions\nlab/gpu0: clients that wait for a place: bob 2, alice 1, e?[2J 1\n");
    Servers.Answer hostile = new Servers.Answer(SERVER, Map.of("server", Map.of("waiting", 1)));
    assertThat(new SessionTable().text(List.of(hostile))).isEqualTo("no sessions\n");
  }

  @Test
  void aRegionThatWasTooSmallIsALine() {
    Map<String, Object> region =
        Map.of(
            "guest",
            "alice",
            "regionBytes",
            128L << 20,
            "lackedBytes",
            3L << 20,
            "at",
            "2026-01-02T03:04:05Z");
    Map<String, Object> server = Map.of("smallRegions", List.of(region));
    Servers.Answer answer =
        new Servers.Answer(SERVER, Map.of("server", server, "sessions", List.of()));
    assertThat(new SessionTable().text(List.of(answer)))
        .startsWith("no sessions\nlab/gpu0: guest alice: its region of 128MiB was too small:")
        .endsWith("set region: 256MiB in its vgpu, then apply\n");
  }

  @Test
  void anAnswerOfACompromisedServerIsOneLineForEachSession() {
    Map<String, Object> hostile = session("eve\n\u001b[2J\u202Eroot" + "x".repeat(1000), "NaN", 1);
    hostile.put("compute", List.of());
    hostile.put("waiting", 7);
    hostile.put("memoryBytes", Map.of());
    String table = new SessionTable().text(answer(List.of(hostile, "no session", List.of())));
    assertThat(table).hasLineCount(3).doesNotContain("\u001b").doesNotContain("\u202E");
    assertThat(row(table, "eve")).hasSizeLessThan(300);
    assertThat(new SessionTable().text(List.of(new Servers.Answer(SERVER, Map.of("sessions", 1)))))
        .isEqualTo("no sessions\n");
  }

  @Test
  void theLinesOfAGuestAreNotThoseOfALongerName() {
    assertThat("session end: name=alice peer=tcp").matches(LogsCommand.naming("alice"));
    assertThat("session of alice: protocol error").matches(LogsCommand.naming("alice"));
    assertThat("it was alice.").matches(LogsCommand.naming("alice"));
    for (String other : List.of("name=alice2 ", "name=alice-b ", "name=x.alice ", "alice.b")) {
      assertThat(LogsCommand.naming("alice").test(other)).as(other).isFalse();
    }
    assertThat("name=a+b ").matches(LogsCommand.naming("a+b"));
  }
}
