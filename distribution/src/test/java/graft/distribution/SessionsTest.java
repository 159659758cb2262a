package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An operator looks at the sessions of a program that runs, and ends one: as built. */
@Timeout(180)
final class SessionsTest {
  @TempDir Path folder;
  private Path socket;
  private SoftwareServer server;
  private Process program;
  private BufferedReader printed;

  @BeforeEach
  void start() throws Exception {
    socket = folder.resolve("operator.sock");
    Path audit = folder.resolve("audit.jsonl");
    server =
        SoftwareServer.start(
            folder,
            Map.of(),
            List.of(
                "--operator",
                socket.toString(),
                "--audit",
                audit.toString(),
                "--metrics",
                "unix://" + folder.resolve("metrics.sock"),
                "--session-log",
                "on",
                "--accounting",
                folder.resolve("accounting.jsonl").toString()),
            "tcp://127.0.0.1:0");
    Programs.build(folder, List.of("loop"));
    ProcessBuilder loop = new ProcessBuilder(folder.resolve("loop").toString());
    loop.environment().putAll(server.environment(server.address()));
    loop.environment().put("SLURM_JOB_ID", "4711");
    program = loop.redirectErrorStream(true).start();
    printed = program.inputReader();
    assertThat(printed.readLine()).isEqualTo("cuInit 0");
    assertThat(printed.readLine()).isEqualTo("looping");
  }

  @AfterEach
  void stop() throws Exception {
    program.destroyForcibly();
    server.stop();
  }

  private Finished graft(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(SoftwareServer.GRAFT));
    command.addAll(List.of(words));
    command.addAll(List.of("--socket", socket.toString()));
    Map<String, String> environment =
        Map.of(
            "PATH", System.getenv("PATH"),
            "GRAFT_AUDIT", folder.resolve("commands.jsonl").toString());
    return Finished.run(folder, environment, command);
  }

  private Map<?, ?> onlySession(String json) throws IOException {
    Map<?, ?> answer = (Map<?, ?>) ((List<?>) Json.readObject(json).get("servers")).get(0);
    List<?> sessions = (List<?>) answer.get("sessions");
    assertThat(sessions).hasSize(1);
    return (Map<?, ?>) sessions.get(0);
  }

  @Test
  void aRunningProgramIsSeenByItsNameAndItsProcess() throws Exception {
    Finished json = graft("sessions", "--output", "json");
    assertThat(json.code()).as("%s", json).isZero();
    Map<?, ?> session = onlySession(json.out());
    assertThat(session.get("guest")).isEqualTo(SoftwareServer.NAME);
    assertThat(session.get("claimedProgram")).isEqualTo("loop");
    assertThat(session.get("claimedPid")).isEqualTo(program.pid());
    assertThat(session.get("claimedJob")).isEqualTo("4711");
    assertThat(session.get("channel")).isEqualTo("tcp");
    Finished text = graft("sessions");
    assertThat(text.out().lines().toList()).hasSize(3);
    assertThat(text.out()).startsWith("SERVER").contains(" loop ", " tcp ", "software");
  }

  @Test
  void topPrintsOneObjectALine() throws Exception {
    Finished top = graft("top", "--count", "2", "--interval", "1s", "--output", "json");
    assertThat(top.code()).as("%s", top).isZero();
    List<String> lines = top.out().lines().toList();
    assertThat(lines).hasSize(2);
    long before = (Long) onlySession(lines.get(0)).get("calls");
    assertThat((Long) onlySession(lines.get(1)).get("calls")).isGreaterThan(before);
    assertThat(graft("top", "-n", "1").out()).contains("SERVER").contains(" loop ");
  }

  @Test
  void theLogSaysWhereAWorkerHasCrashed() throws Exception {
    for (ProcessHandle worker : server.workers()) {
      Process kill = new ProcessBuilder("kill", "-SEGV", String.valueOf(worker.pid())).start();
      assertThat(kill.waitFor()).isZero();
    }
    assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
    while (!server.log().contains("the worker died with status")) {
      Thread.sleep(20); // ended by the test's time limit
    }
    assertThat(server.log()).contains("SIGSEGV", "# Problematic frame:");
  }

  @Test
  void aProgramIsToldThatAnOperatorHasEndedItsSession() throws Exception {
    String id = onlySession(graft("sessions", "-o", "json").out()).get("session").toString();
    Finished killed = graft("kill", id);
    assertThat(killed.code()).as("%s", killed).isZero();
    assertThat(killed.out()).isEqualTo("session " + id + " of me has ended\n");
    String rest = String.join("\n", printed.lines().toList());
    assertThat(program.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(rest)
        .contains("graft: the server has ended this session: an operator has ended it")
        .contains("ended 46"); // CUDA_ERROR_DEVICE_UNAVAILABLE
    Path audit = folder.resolve("audit.jsonl");
    while (!Files.readString(audit).contains("session-end")) {
      TimeUnit.MILLISECONDS.sleep(10); // ended by the test's own time limit
    }
    assertThat(audit)
        .content(StandardCharsets.UTF_8)
        .contains("\"reason\":\"an operator has ended it\"", "\"claimedProgram\":\"loop\"");
    assertThat(folder.resolve("commands.jsonl"))
        .content(StandardCharsets.UTF_8)
        .contains("\"event\":\"session-killed\"", id);
    Finished again = graft("kill", id);
    assertThat(again.code()).isEqualTo(1);
    assertThat(again.err()).contains("there is no such session");
  }

  private String metrics() throws IOException {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(folder.resolve("metrics.sock")));
      channel.write(StandardCharsets.US_ASCII.encode("GET /metrics HTTP/1.0\r\n\r\n"));
      return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void metricsTheLogAndTheAccountNameTheGuestAndItsGpu() throws Exception {
    String uuid = "GPU-67726166-742d-736f-6674-776172652d30"; // of the software device
    String labels = "{guest=\"me\",gpu=\"software\",UUID=\"" + uuid + "\"}";
    assertThat(metrics()).contains("graft_sessions" + labels + " 1\n");
    awaitLog("session start: name=me peer=");
    String id = onlySession(graft("sessions", "-o", "json").out()).get("session").toString();
    assertThat(graft("kill", id).code()).isZero();
    Path accounts = folder.resolve("accounting.jsonl");
    while (Files.size(accounts) == 0) {
      Thread.onSpinWait(); // ended by the test's own time limit
    }
    Map<String, Object> account = Json.readObject(Files.readString(accounts));
    assertThat(account)
        .containsEntry("who", "me")
        .containsEntry("session", id)
        .containsEntry("claimedProgram", "loop")
        .containsEntry("UUID", uuid);
    assertThat((Long) account.get("roundTrips")).isPositive();
    assertThat((Long) account.get("peakMemoryBytes")).isEqualTo(4096);
    awaitLog("session end: name=me");
    assertThat(metrics())
        .contains("graft_sessions" + labels + " 0\n")
        .contains("graft_sessions_total" + labels + " 1\n")
        .doesNotContain("UUID=\"\"");
  }

  /** The log follows the metrics and the accounts. Ended by the test's own time limit. */
  private void awaitLog(String line) throws Exception {
    while (!server.log().contains(line)) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  @Test
  void aServerThatDoesNotAnswerIsAnError() throws Exception {
    server.stop();
    Finished sessions = graft("sessions");
    assertThat(sessions.code()).isEqualTo(1);
    assertThat(sessions.err()).contains("does not answer");
  }
}
