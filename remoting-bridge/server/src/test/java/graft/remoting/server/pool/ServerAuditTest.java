package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.audit.AuditLog;
import graft.common.json.Json;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written of sessions, and how few lines a flood of refused connections leaves. */
class ServerAuditTest {
  @TempDir Path folder;
  private final AtomicLong now = new AtomicLong();
  private Path file;
  private Path accounts;
  private ServerAudit audit;

  @BeforeEach
  void open() throws IOException {
    file = folder.resolve("audit.jsonl");
    accounts = folder.resolve("accounting.jsonl");
    audit =
        new ServerAudit(
            AuditLog.open(file.toString(), message -> {}),
            AuditLog.open(accounts.toString(), message -> {}),
            now::get);
  }

  /** Who, when, program, GPU seconds, peak memory, bytes. */
  @Test
  void aSessionThatEndsHasItsAccountInBothLogs() throws Exception {
    ServedSession session =
        new ServedSession(
            0xAB,
            Bytes.of(new byte[32]),
            new ServedSession.Client("alice", "10.0.0.7:5", "shm", "", SessionLimits.NONE),
            DeviceSpec.parse("cuda:0"),
            LeasePage.none());
    session.program(new GuestProgram("train\n{", 42, "4711\u0007"));
    session.used(new ControlMessage.Used(10, 20, 30, 4, 50, 60));
    session.uuid("GPU-00000000-0000-0000-0000-000000000001");
    session.ending("the client has disconnected");
    audit.connected(session);
    audit.ended(session, 0);
    audit.refused("refused", "", "10.0.0.7", "10.0.0.7:6", "wrong token");
    assertThat(lines()).hasSize(3);
    List<String> written = Files.readAllLines(accounts);
    assertThat(written).hasSize(1);
    Map<String, Object> account = Json.readObject(written.get(0));
    Map<String, Object> event = Json.readObject(lines().get(1));
    event.put("at", account.get("at")); // some milliseconds may be between the two
    assertThat(account).isEqualTo(event);
    assertThat(Instant.parse((String) account.get("since")))
        .isBeforeOrEqualTo(Instant.parse((String) account.get("at")));
    assertThat(account)
        .containsEntry("event", "session-end")
        .containsEntry("who", "alice")
        .containsEntry("from", "10.0.0.7:5")
        .containsEntry("session", "ab")
        .containsEntry("reason", "the client has disconnected")
        .containsEntry("claimedProgram", "train?{")
        .containsEntry("claimedPid", 42L)
        .containsEntry("claimedJob", "4711?")
        .containsEntry("gpuSeconds", 0.0)
        .containsEntry("copyToDeviceSeconds", 0.0)
        .containsEntry("copyFromDeviceSeconds", 0.0)
        .containsEntry("leaseWaitSeconds", 0.0)
        .containsEntry("peakMemoryBytes", 60L)
        .containsEntry("bytesIn", 10L)
        .containsEntry("bytesOut", 20L)
        .containsEntry("calls", 30L)
        .containsEntry("roundTrips", 4L)
        .containsEntry("channel", "shm")
        .containsEntry("device", "cuda:0")
        .containsEntry("UUID", "GPU-00000000-0000-0000-0000-000000000001");
  }

  private List<String> lines() throws IOException {
    return Files.readAllLines(file);
  }

  @Test
  void manyRefusalsOfASourceAreOneLineAndASum() throws Exception {
    for (int i = 0; i < 10_000; i++) {
      audit.refused("refused", "", "10.0.0.7", "10.0.0.7:" + i, "wrong token");
    }
    assertThat(lines()).hasSize(1).first().asString().contains("10.0.0.7:0", "wrong token");
    now.addAndGet(1_000_000_000L);
    audit.writeSums();
    assertThat(lines()).hasSize(2).last().asString().contains("\"count\":9999");
    audit.writeSums();
    assertThat(lines()).hasSize(2);
  }

  @Test
  void manySourcesAreFewLines() throws Exception {
    for (int i = 0; i < 10_000; i++) {
      audit.refused("refused", "", "source " + i, "source " + i + ":1", "wrong token");
    }
    now.addAndGet(1_000_000_000L);
    audit.writeSums();
    assertThat(lines()).hasSize(ServerAudit.LINES + 1);
    assertThat(lines().get(ServerAudit.LINES)).contains("other sources", "\"count\":9980");
  }
}
