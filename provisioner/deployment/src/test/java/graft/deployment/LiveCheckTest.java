package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.deployment.apply.Steps;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.programs.ServerLikeProcess;
import graft.deployment.programs.ServerQuestion;
import graft.deployment.step.guest.MakeRegion;
import graft.deployment.step.host.StartServer;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestProcess;
import graft.guests.connection.LocalTerminal;
import graft.guests.connection.TerminalSession;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only asking shows: the journal says of all of these that they are done. */
class LiveCheckTest {
  private static final Duration LIMIT = Duration.ofSeconds(2);

  @TempDir Path folder;
  private Process server;

  @AfterEach
  void stop() {
    if (server != null) {
      server.destroyForcibly();
    }
  }

  /** A process that looks like the server of gpu0, which the journal has as started. */
  private JournalState runningServer() throws Exception {
    ServerLikeProcess like = ServerLikeProcess.start(folder);
    server = like.process();
    StartServer step = like.step();
    try (Journal journal =
        Journal.open(folder.resolve("journal.jsonl"), Steps.CODEC, Clock.systemUTC())) {
      journal.begin(journal.apply("/d/lab.yaml", ""), step, Map.of());
      journal.done(step, Map.of());
      return journal.state();
    }
  }

  private static List<LiveFinding> examine(
      JournalState journal, DeploymentStatus status, ServerQuestion question) {
    return new LiveCheck("lab", journal, new Connections(), question, LIMIT)
        .examine(status, Optional.empty());
  }

  private static DeploymentStatus status(JournalState journal) {
    return new DeploymentStatus(journal, new Connections());
  }

  @Test
  void aServerThatAnswersIsCounted() throws Exception {
    JournalState journal = runningServer();
    DeploymentStatus status = status(journal);
    assertThat(
            examine(
                journal,
                status,
                (socket, limit) -> {
                  assertThat(limit).isEqualTo(LIMIT);
                  return Map.of("sessions", List.of("one", "two"));
                }))
        .isEmpty();
    assertThat(status.servers().get(0))
        .containsEntry("state", "running")
        .containsEntry("answers", true)
        .containsEntry("sessions", 2);
  }

  @Test
  void aRegionThatWasTooSmallIsShownUntilTheGuestHasAnotherOne() throws Exception {
    runningServer();
    MakeRegion made =
        new MakeRegion(
            "test:///default",
            "alice",
            folder.resolve("r"),
            MemorySize.ofMib(128),
            Optional.empty());
    Map<String, Object> answer =
        new HashMap<>(
            SmallRegionTest.answer(
                SmallRegionTest.region("alice", 128 << 20, 1 << 20),
                SmallRegionTest.region("bob", 64 << 20, 1 << 20)));
    answer.put("sessions", List.of());
    try (Journal journal =
        Journal.open(folder.resolve("journal.jsonl"), Steps.CODEC, Clock.systemUTC())) {
      journal.begin(journal.apply("/d/lab.yaml", ""), made, Map.of());
      journal.done(made, Map.of());
      DeploymentStatus status = status(journal.state());
      assertThat(examine(journal.state(), status, (socket, limit) -> answer)).isEmpty();
      assertThat(SmallRegion.in(status.servers().get(0)))
          .as("bob's is another one by now")
          .singleElement()
          .extracting(SmallRegion::guest)
          .isEqualTo("alice");
    }
  }

  @Test
  void aGpuWithAProblemIsWrong() throws Exception {
    JournalState journal = runningServer();
    Map<String, Object> server = Map.of("problem", "GPU-1: Xid 79,\n\u001b[2J off the bus");
    List<LiveFinding> findings =
        examine(
            journal,
            status(journal),
            (socket, limit) -> Map.of("sessions", List.of(), "server", server));
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0).toString())
        .startsWith("GPU gpu0: it takes no new sessions: GPU-1: Xid 79,")
        .doesNotContain("\u001b", "\n");
    assertThat(findings.get(0).fix())
        .contains("--gpu-reset", "graft stop lab gpu0", "graft start lab gpu0");
  }

  @Test
  void aServerThatRunsAndDoesNotAnswerIsWrong() throws Exception {
    JournalState journal = runningServer();
    DeploymentStatus status = status(journal);
    List<LiveFinding> findings =
        examine(
            journal,
            status,
            (socket, limit) -> {
              throw new IOException("not answered\n\u001b[2J for 2 s");
            });
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0).toString())
        .startsWith("GPU gpu0: its server runs and does not answer: not answered \\u001b[2J for");
    assertThat(findings.get(0).fix()).contains("graft logs lab gpu0", "kill " + server.pid());
    assertThat(status.servers().get(0)).containsEntry("answers", false);
  }

  @Test
  void anAnswerThatIsNoneIsWrongToo() throws Exception {
    JournalState journal = runningServer();
    assertThat(examine(journal, status(journal), (socket, limit) -> Map.of("sessions", "none")))
        .hasSize(1);
  }

  @Test
  void aServerThatHasEndedIsNotAsked() throws Exception {
    JournalState journal = runningServer();
    server.destroyForcibly().waitFor();
    DeploymentStatus status = status(journal);
    assertThat(status.servers().get(0)).containsEntry("state", "stopped");
    assertThat(
            examine(
                journal,
                status,
                (socket, limit) -> {
                  throw new AssertionError("asked");
                }))
        .isEmpty();
  }

  private static Descriptor withNode(Endpoint server, String owner) throws Exception {
    return DescriptorReader.read(
            Path.of("/d/lab.yaml"),
            """
            graft: 1
            name: lab
            nodes: [{name: big, server: "%s", token-file: token}]
            gpus: [{name: gpu0, owner: %s}]
            """
                .formatted(server, owner))
        .descriptor();
  }

  private static List<LiveFinding> nodes(Descriptor descriptor) {
    Connections connections = new Connections();
    return new LiveCheck("lab", JournalState.EMPTY, connections, (socket, limit) -> Map.of(), LIMIT)
        .examine(new DeploymentStatus(JournalState.EMPTY, connections), Optional.of(descriptor));
  }

  @Test
  void aNodeWhoseServerIsDeadIsWrong() throws Exception {
    Endpoint address;
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = Endpoint.tcp("127.0.0.1", listening.getLocalPort());
      assertThat(nodes(withNode(address, "\"node:big\""))).isEmpty();
    }
    List<LiveFinding> findings = nodes(withNode(address, "\"node:big\""));
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0).toString())
        .startsWith("node big: nothing accepts connections at " + address + ": ");
    assertThat(nodes(withNode(address, "host"))).as("nobody uses it").isEmpty();
  }

  /** A guest in which each program ends like this. */
  private record Saying(int code, String text) implements GuestConnection {
    @Override
    public boolean answers(Duration timeout) {
      return true;
    }

    @Override
    public Ended run(List<String> words, byte[] input, Duration timeout) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
      return new Ended(code, out, new ByteArrayOutputStream(), false);
    }

    @Override
    public GuestProcess start(List<String> words, Optional<InputStream> input) {
      throw new AssertionError();
    }

    @Override
    public TerminalSession start(List<String> words, LocalTerminal terminal) {
      throw new AssertionError();
    }

    @Override
    public void put(InputStream content, String path, int mode) {
      throw new AssertionError();
    }

    @Override
    public void get(String path, OutputStream to) {
      throw new AssertionError();
    }
  }

  @Test
  void theClientOfAGuestIsComparedByItsChecksum() {
    String sum = "a".repeat(64);
    CompletableFuture<String> ours = CompletableFuture.completedFuture(sum);
    assertThat(ClientState.compare(new Saying(0, sum + "  /usr/lib\n"), LIMIT, ours))
        .isEqualTo(ClientState.CURRENT);
    assertThat(ClientState.compare(new Saying(0, "b".repeat(64) + "  x\n"), LIMIT, ours))
        .isEqualTo(ClientState.STALE);
    assertThat(ClientState.compare(new Saying(0, "\u001b[2J"), LIMIT, ours))
        .isEqualTo(ClientState.STALE);
    assertThat(ClientState.compare(new Saying(1, ""), LIMIT, ours)).isEqualTo(ClientState.MISSING);
  }

  @Test
  void aClientOfTheHostThatCannotBeReadIsSaid() {
    GraftException unread = new GraftException("cannot read libcuda.so.1", "see its mode");
    CompletableFuture<String> failed = CompletableFuture.failedFuture(unread);
    Saying guest = new Saying(0, "a".repeat(64) + "  x\n");
    assertThatThrownBy(() -> ClientState.compare(guest, LIMIT, failed.thenApply(sum -> sum)))
        .isSameAs(unread);
  }
}
