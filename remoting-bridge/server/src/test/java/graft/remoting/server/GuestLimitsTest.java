package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.audit.AuditLog;
import graft.remoting.device.CudaResult;
import graft.remoting.server.exchange.SessionLimits;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Limits of all sessions of a guest together, idle sessions, replaced tokens, the audit trail. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("limits of guests") // one method at a time
class GuestLimitsTest {
  private static final long MIB = 1 << 20;

  @TempDir Path folder;

  /** Writes the tokens file with one line for alice. */
  private void grant(byte[] token, String settings) throws IOException {
    Path file = folder.resolve("tokens.new");
    Files.writeString(
        file, "alice " + HexFormat.of().formatHex(token) + " " + settings + System.lineSeparator());
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.move(file, folder.resolve("tokens"), StandardCopyOption.ATOMIC_MOVE);
  }

  private static void assertEnds(WireClient session) {
    assertThatThrownBy(
            () -> {
              while (true) {
                session.answer();
              }
            })
        .isInstanceOfAny(EOFException.class, java.net.SocketException.class);
  }

  @Test
  void theDeviceMemoryOfAllSessionsOfAGuestIsLimited() throws Exception {
    SessionLimits limits = new SessionLimits(0, 0, 8 * MIB, 0, 0);
    try (ServerFixture fixture =
            ServerFixture.start(folder, "software", config -> config.limits(limits).spares(2));
        CudaClient second = new CudaClient(fixture.alice()).retain();
        CudaClient bob = new CudaClient(fixture.bob()).retain()) {
      try (CudaClient first = new CudaClient(fixture.alice()).retain()) {
        first.allocate(6 * MIB);
        assertThatThrownBy(() -> second.allocate(6 * MIB))
            .hasMessage("CUresult " + CudaResult.OUT_OF_MEMORY);
        second.allocate(2 * MIB);
        bob.allocate(MIB / 2);
      }
      // What the first session used is free again once its worker has ended.
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      long memory = 0;
      while (memory == 0) {
        assertThat(System.nanoTime()).isLessThan(deadline);
        try {
          memory = second.allocate(6 * MIB);
        } catch (CudaClient.CudaError e) {
          assertThat(e.result).isEqualTo(CudaResult.OUT_OF_MEMORY);
        }
      }
    }
  }

  @Test
  void theHostMemoryOfAllSessionsOfAGuestIsLimited() throws Exception {
    SessionLimits limits = new SessionLimits(0, 64 * MIB, 0, 64 * MIB, 0);
    try (ServerFixture fixture =
            ServerFixture.start(folder, "software", config -> config.limits(limits).spares(2));
        CudaClient first = new CudaClient(fixture.alice()).retain();
        CudaClient second = new CudaClient(fixture.alice()).retain()) {
      // Each event counts 1 KiB.
      first.createEvents(1, 65_000);
      first.call("graftContextSynchronize", with());
      second.createEvents(1, 600);
      assertThatThrownBy(() -> second.call("graftContextSynchronize", with()))
          .hasMessage("CUresult " + CudaResult.OUT_OF_MEMORY);
    }
  }

  @Test
  void anIdleSessionEndsAndItsClientIsTold() throws Exception {
    SessionLimits limits = new SessionLimits(0, 0, 0, 0, 1);
    try (ServerFixture fixture = ServerFixture.start(folder, config -> config.limits(limits));
        WireClient idle = fixture.alice()) {
      WireClient.Answer last = idle.answer();
      assertThat(last.kind()).isEqualTo(5);
      assertThat(new String(last.payload().array(), StandardCharsets.UTF_8))
          .contains("graft: the server has ended this session: it was idle for 1 s");
      assertEnds(idle);
    }
  }

  /** A function of the client that has not returned is work, however long it takes. */
  @Test
  void aSessionWithWorkOnTheDeviceIsNotIdle() throws Exception {
    SessionLimits limits = new SessionLimits(0, 0, 0, 0, 1);
    try (ServerFixture fixture =
            ServerFixture.start(folder, "software", config -> config.limits(limits).spares(2));
        CudaClient busy = new CudaClient(fixture.alice()).retain()) {
      busy.call("cuStreamCreate", with(1, 1));
      busy.begin("graftHostFunction", with(1, 7));
      assertThat(busy.wire.answer().kind() + busy.wire.answer().kind()).isEqualTo(2);
      for (int i = 0; i < 2; i++) {
        try (WireClient idle = fixture.bob()) {
          assertEnds(idle); // the same time passes for both
        }
      }
      busy.async("graftHostFunctionDone", with(7));
      busy.call("cuStreamSynchronize", with(1));
    }
  }

  @Test
  void aNewTokenLeavesTheSessionsOfTheOldOneUnlessTheyAreToEnd() throws Exception {
    byte[] next = ServerFixture.token((byte) 9);
    byte[] last = ServerFixture.token((byte) 10);
    try (ServerFixture fixture = ServerFixture.start(folder, config -> config);
        WireClient before = fixture.alice()) {
      grant(next, "memory=5");
      try (WireClient other = WireClient.session(fixture.address(), "alice", next)) {
        assertThat(before.call(EchoBackend.ECHO, 1, new byte[0]).slot()).isEqualTo(1);
        before.connection(fixture.address(), "alice", 1).close();
        assertThatThrownBy(fixture::alice).hasMessageContaining("refused 3");
        grant(last, "memory=5 sessions=own");
        assertEnds(before);
        assertEnds(other);
        try (WireClient newest = WireClient.session(fixture.address(), "alice", last)) {
          assertThat(newest.call(EchoBackend.ECHO, 1, new byte[0]).slot()).isEqualTo(1);
        }
      }
    }
  }

  /** The program of a session has gone before its worker has released the device. */
  @Test
  void aGuestWithOneSessionOpensTheNextAtOnce() throws Exception {
    try (ServerFixture fixture =
        ServerFixture.start(folder, config -> config.maxGuestSessions(1).spares(2))) {
      for (int i = 0; i < 50; i++) {
        try (WireClient session = fixture.alice()) {
          assertThat(session.call(EchoBackend.ECHO, 1, new byte[0]).slot()).isEqualTo(1);
        }
      }
    }
  }

  @Test
  void aTokenLimitsTheSessionsAndTheMemoryOfItsGuest() throws Exception {
    try (ServerFixture fixture =
        ServerFixture.start(folder, "software", config -> config.spares(2))) {
      byte[] token = ServerFixture.token((byte) 9);
      grant(token, "max-sessions=2 guest-memory=" + 8 * MIB);
      try (CudaClient first =
              new CudaClient(WireClient.session(fixture.address(), "alice", token)).retain();
          CudaClient second =
              new CudaClient(WireClient.session(fixture.address(), "alice", token)).retain()) {
        assertThatThrownBy(() -> WireClient.session(fixture.address(), "alice", token))
            .hasMessageContaining("refused 5")
            .hasMessageContaining("alice has its 2 sessions");
        first.allocate(6 * MIB);
        assertThatThrownBy(() -> second.allocate(6 * MIB))
            .hasMessage("CUresult " + CudaResult.OUT_OF_MEMORY);
      }
    }
  }

  @Test
  void theAuditTrailSaysWhoDidWhatAndHasNoToken() throws Exception {
    Path file = folder.resolve("audit.jsonl");
    try (AuditLog log = AuditLog.open(file.toString(), message -> {});
        ServerFixture fixture =
            ServerFixture.start(folder, config -> config.audit(log).maxGuestSessions(1))) {
      try (WireClient session = fixture.alice()) {
        session.call(EchoBackend.ECHO, 1, new byte[0]);
        assertThatThrownBy(fixture::alice).hasMessageContaining("refused 5");
      }
      assertThatThrownBy(
              () -> WireClient.session(fixture.address(), "alice", ServerFixture.token((byte) 77)))
          .hasMessageContaining("refused 3");
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (!Files.readString(file).contains("session-end")) {
        assertThat(System.nanoTime()).isLessThan(deadline);
        Thread.onSpinWait();
      }
    }
    String all = Files.readString(file);
    assertThat(all)
        .containsPattern("\"event\":\"connect\",\"who\":\"alice\",\"from\":\"[^\"]*127.0.0.1")
        .containsPattern("\"event\":\"limit\",\"who\":\"alice\".*its 1 sessions")
        .containsPattern("\"event\":\"session-end\",\"who\":\"alice\".*disconnected");
    for (byte seed : new byte[] {1, 2, 77}) {
      String token = HexFormat.of().formatHex(ServerFixture.token(seed));
      assertThat(all).doesNotContainIgnoringCase(token.substring(0, 16));
    }
    assertThat(Files.getPosixFilePermissions(file))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }
}
