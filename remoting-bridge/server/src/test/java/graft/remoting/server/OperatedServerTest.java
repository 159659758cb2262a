package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import graft.common.audit.AuditLog;
import graft.common.json.Json;
import graft.remoting.server.operate.OperatorClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What operators see of a running server, and how they end a session. */
@Timeout(120)
class OperatedServerTest {
  private static final long MIB = 1 << 20;

  @TempDir Path folder;
  private Path socket;

  @BeforeEach
  void place() {
    socket = folder.resolve("operator.sock");
  }

  private ServerFixture start(String device, AuditLog audit) throws Exception {
    return ServerFixture.start(folder, device, config -> config.operator(socket).audit(audit));
  }

  @SuppressWarnings("unchecked")
  private List<Map<String, Object>> sessions() throws IOException {
    return (List<Map<String, Object>>) OperatorClient.sessions(socket).get("sessions");
  }

  /** Waits until the only session is as expected: a worker reports once a second. */
  private Map<String, Object> await(Predicate<Map<String, Object>> expected) throws IOException {
    while (true) {
      List<Map<String, Object>> all = sessions();
      if (all.size() == 1 && expected.test(all.get(0))) {
        return all.get(0);
      }
      Thread.onSpinWait();
    }
  }

  @Test
  void aClientWithoutARegionLacksNothingOfOne() throws Exception {
    try (ServerFixture fixture = start("software", AuditLog.none());
        CudaClient bob = new CudaClient(fixture.bob())) {
      bob.retain();
      bob.async("graftRegionLacked", with(MIB));
      assertThatThrownBy(() -> bob.call("graftContextSynchronize", with()))
          .hasMessageContaining("801");
      assertThat((Map<?, ?>) OperatorClient.sessions(socket).get("server"))
          .extracting("smallRegions")
          .isEqualTo(List.of());
    }
  }

  @Test
  void aSessionIsSeenWithWhatItUses() throws Exception {
    try (ServerFixture fixture = start("software", AuditLog.none());
        CudaClient bob = new CudaClient(fixture.bob())) {
      bob.async("graftProgram_v2", with(4711).text("train").text("slurm-7"));
      bob.retain();
      long memory = bob.allocate(MIB);
      bob.async("cuMemsetD8_v2", with(memory, 1, MIB));
      bob.call("graftContextSynchronize", with());
      bob.call("cuMemFree_v2", with(memory));
      Map<String, Object> seen =
          await(s -> s.get("memoryBytes").equals(0L) && s.get("peakMemoryBytes").equals(MIB));
      assertThat(seen)
          .containsEntry("guest", "bob")
          .containsEntry("claimedProgram", "train")
          .containsEntry("claimedPid", 4711L)
          .containsEntry("claimedJob", "slurm-7")
          .containsEntry("channel", "tcp")
          .containsEntry("device", "software")
          .containsEntry("memoryLimitBytes", MIB)
          .containsEntry("guestMemoryLimitBytes", null)
          .containsEntry("class", null)
          .containsEntry("waiting", false);
      assertThat((Double) seen.get("gpuSeconds")).isPositive();
      assertThat((Long) seen.get("calls")).isGreaterThanOrEqualTo(6);
      assertThat(seen.get("peer").toString()).startsWith("127.0.0.1");
      Map<String, Object> server = map(OperatorClient.sessions(socket).get("server"));
      assertThat(server)
          .containsEntry("device", "software")
          .containsEntry("listen", List.of(fixture.address().toString()))
          .containsEntry("pid", ProcessHandle.current().pid());
    }
    assertThat(socket).doesNotExist();
  }

  private static double seconds(Map<String, Object> session, String field) {
    return (Double) session.get(field);
  }

  /** Copies to the device and from it, or fills memory, until that has taken 0.3 s of GPU time. */
  private Map<String, Object> work(CudaClient client, long memory, String function)
      throws IOException {
    double begun = seconds(sessions().get(0), "gpuSeconds");
    while (true) {
      for (int i = 0; i < 20; i++) {
        switch (function) {
          case "graftWrite" -> client.async(function, with(memory, MIB, 0), new byte[(int) MIB]);
          case "graftReadAsync" -> client.async(function, with(memory, MIB, 0, 1L << 63 | i));
          default -> client.async(function, with(memory, i, MIB));
        }
      }
      int waits = client.begin("graftContextSynchronize", with());
      WireClient.Answer answer = client.wire.answer();
      while (answer.kind() == 1) { // data
        ByteBuffer head = ByteBuffer.wrap(answer.payload().array()).order(ByteOrder.LITTLE_ENDIAN);
        client.wire.receive((int) head.getLong(16));
        answer = client.wire.answer();
      }
      assertThat(answer)
          .returns(waits, WireClient.Answer::slot)
          .returns(0, WireClient.Answer::result);
      Map<String, Object> seen = sessions().get(0);
      if (seconds(seen, "gpuSeconds") > begun + 0.3) {
        return seen;
      }
    }
  }

  private static void assertCopies(Map<String, Object> session, double to, double from) {
    double used = seconds(session, "gpuSeconds");
    assertThat(seconds(session, "copyToDeviceSeconds")).isCloseTo(to, within(used / 10));
    assertThat(seconds(session, "copyFromDeviceSeconds")).isCloseTo(from, within(used / 10));
  }

  @Test
  void whatCopiesAndWhatComputesIsToldApart() throws Exception {
    Path audit = folder.resolve("audit.jsonl");
    try (AuditLog log = AuditLog.open(audit.toString(), message -> {});
        ServerFixture fixture = start("software", log)) {
      try (CudaClient alice = new CudaClient(fixture.alice()).retain()) {
        long memory = alice.allocate(MIB);
        double to = seconds(work(alice, memory, "graftWrite"), "gpuSeconds");
        assertCopies(sessions().get(0), to, 0);
        double computed = seconds(work(alice, memory, "cuMemsetD8_v2"), "gpuSeconds");
        assertCopies(sessions().get(0), to, 0);
        double all = seconds(work(alice, memory, "graftReadAsync"), "gpuSeconds");
        assertCopies(sessions().get(0), to, all - computed);
      }
      while (!Files.readString(audit).contains("session-end")) {
        Thread.onSpinWait();
      }
    }
    Map<String, Object> account = Json.readObject(Files.readAllLines(audit).get(1));
    assertThat(account).containsEntry("event", "session-end");
    assertThat(seconds(account, "copyToDeviceSeconds")).isGreaterThan(0.2);
    assertThat(seconds(account, "copyFromDeviceSeconds")).isGreaterThan(0.2);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Object tree) {
    return (Map<String, Object>) tree;
  }

  @Test
  void sharesThatChangeAreSeenAtOnce() throws Exception {
    try (ServerFixture fixture = start("software", AuditLog.none());
        WireClient alice = fixture.alice()) {
      assertThat(alice).isNotNull();
      String line =
          "alice "
              + HexFormat.of().formatHex(ServerFixture.ALICE)
              + " class=guaranteed compute=30 priority=high\n";
      Path changed = folder.resolve("tokens.new");
      Files.copy(
          folder.resolve("tokens"), changed, java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
      Files.writeString(changed, line);
      Files.move(changed, folder.resolve("tokens"), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
      assertThat(await(s -> "guaranteed".equals(s.get("class"))))
          .containsEntry("compute", 30L)
          .containsEntry("priority", "high");
    }
  }

  @Test
  void aHostileNameOfAProgramIsCutAndPrintable() throws Exception {
    try (ServerFixture fixture = start("software", AuditLog.none());
        CudaClient alice = new CudaClient(fixture.alice())) {
      String hostile = "\u001b]0;root\u0007\n\u202Eevil" + "x".repeat(5000);
      alice.async("graftProgram_v2", with(-1).text(hostile).text(hostile));
      alice.async("graftProgram_v2", with(1).text("another").text(""));
      Map<String, Object> seen = await(s -> s.get("claimedProgram") != null);
      assertThat(seen).containsEntry("claimedPid", 0xFFFFFFFFL);
      assertThat(seen.get("claimedProgram").toString())
          .startsWith("?]0;root??")
          .matches("[ -~]{1,64}");
      assertThat(seen).containsEntry("claimedJob", seen.get("claimedProgram"));
      alice.retain(); // the session goes on
      assertThat(sessions().get(0)).containsEntry("claimedProgram", seen.get("claimedProgram"));
    }
  }

  @Test
  void anOperatorEndsASessionAndItsClientIsTold() throws Exception {
    Path audit = folder.resolve("audit.jsonl");
    try (AuditLog log = AuditLog.open(audit.toString(), message -> {});
        ServerFixture fixture = start("echo", log);
        WireClient alice = fixture.alice();
        WireClient bob = fixture.bob()) {
      alice.call(EchoBackend.ECHO, 1, new byte[8]);
      String id =
          sessions().stream()
              .filter(s -> s.get("guest").equals("alice"))
              .map(s -> s.get("session").toString())
              .findFirst()
              .orElseThrow();
      assertThat(OperatorClient.end(socket, id)).containsEntry("guest", "alice");
      WireClient.Answer last = alice.answer();
      assertThat(new String(last.payload().array(), StandardCharsets.UTF_8))
          .contains("graft: the server has ended this session: an operator has ended it");
      assertThatThrownBy(alice::answer).isInstanceOf(IOException.class);
      bob.call(EchoBackend.ECHO, 1, new byte[8]); // others are not affected
      while (!Files.readString(audit).contains("session-end")) {
        Thread.onSpinWait();
      }
      String line =
          Files.readAllLines(audit).stream()
              .filter(l -> l.contains("session-end"))
              .findFirst()
              .orElseThrow();
      assertThat(Json.readObject(line))
          .containsEntry("who", "alice")
          .containsEntry("session", id)
          .containsEntry("reason", "an operator has ended it");
    }
  }

  @Test
  void aSessionWhoseWorkerDoesNotAnswerIsEndedAsWell() throws Exception {
    try (ServerFixture fixture = start("echo", AuditLog.none());
        WireClient alice = fixture.alice()) {
      alice.record(EchoBackend.HANG, 0, 1, new byte[0]);
      OperatorClient.end(socket, sessions().get(0).get("session").toString());
      while (!sessions().isEmpty()) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void whatIsNoRequestIsRefused() throws Exception {
    try (ServerFixture fixture = start("echo", AuditLog.none())) {
      assertThat(fixture.address()).isNotNull();
      assertThatThrownBy(() -> OperatorClient.end(socket, "1234"))
          .hasMessage("there is no such session");
    }
    assertThatThrownBy(() -> OperatorClient.sessions(socket)).isInstanceOf(IOException.class);
  }
}
