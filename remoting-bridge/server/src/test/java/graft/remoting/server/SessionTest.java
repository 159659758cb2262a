package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.connection.Channel;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class SessionTest {
  @TempDir Path folder;

  private ServerFixture start() throws IOException, ServerException {
    return ServerFixture.start(folder, config -> config);
  }

  private static byte[] text(String eightBytes) {
    return eightBytes.getBytes(StandardCharsets.US_ASCII);
  }

  private static ProcessHandle worker(WireClient client) throws IOException {
    ByteBuffer who =
        ByteBuffer.wrap(client.call(EchoBackend.WHO, 0, new byte[0]).payload().array())
            .order(java.nio.ByteOrder.LITTLE_ENDIAN);
    return ProcessHandle.of(who.getLong(0)).orElseThrow();
  }

  private static void assertEnds(ProcessHandle process) throws Exception {
    process.onExit().get(20, TimeUnit.SECONDS);
  }

  @Test
  void recordsAreAnsweredByAWorkerProcess() throws Exception {
    try (ServerFixture fixture = start();
        WireClient client = fixture.alice()) {
      WireClient.Answer answer = client.call(EchoBackend.ECHO, 42, text("8 bytes!"));
      assertThat(answer.slot()).isEqualTo(42);
      assertThat(answer.payload().array()).isEqualTo(text("8 bytes!"));
      assertThat(worker(client).pid()).isNotEqualTo(ProcessHandle.current().pid());
    }
  }

  @Test
  void unixSocketsServeToo() throws Exception {
    Path path = folder.resolve("s.sock");
    try (ServerFixture fixture =
            ServerFixture.start(folder, c -> c.listen(new ListenAddress.Unix(path)));
        WireClient client =
            WireClient.session(fixture.server.addresses().get(1), "alice", ServerFixture.ALICE)) {
      assertThat(client.call(EchoBackend.ECHO, 1, text("by unix!")).payload().array())
          .isEqualTo(text("by unix!"));
    }
    assertThat(path).doesNotExist();
    assertThat(path.resolveSibling("s.sock.lock")).doesNotExist();
  }

  @Test
  void manyRecordsInOnePacketAreAllExecuted() throws Exception {
    try (ServerFixture fixture = start();
        WireClient client = fixture.alice()) {
      int count = 1000;
      ByteBuffer records = WireClient.little(24 * count);
      for (int i = 0; i < count; i++) {
        records.putInt(24).putShort((short) 0).putShort((short) 1).putInt(i).putInt(0).putLong(i);
      }
      client.send(records.flip());
      for (int i = 0; i < count; i++) {
        assertThat(client.answer().slot()).isEqualTo(i);
      }
    }
  }

  @Test
  void bulkDataOfAnyLengthKeepsTheStreamInStep() throws Exception {
    try (ServerFixture fixture = start();
        WireClient client = fixture.alice()) {
      for (int length : new int[] {0, 1, 7, 4096, 65535, 65536, 5_000_001}) {
        byte[] data = new byte[length];
        new Random(length).nextBytes(data);
        byte[] parameter = WireClient.little(8).putLong(length).array();
        client.record(EchoBackend.BULK, 3, length, parameter);
        client.send(ByteBuffer.wrap(data));
        assertThat(client.answer().slot()).isEqualTo(length);
        assertThat(WireClient.bytes(client.receive(length), 0, length)).isEqualTo(data);
      }
    }
  }

  @Test
  void aKilledWorkerEndsItsOwnSessionOnly() throws Exception {
    try (ServerFixture fixture = start();
        WireClient alice = fixture.alice();
        WireClient bob = fixture.bob()) {
      ProcessHandle killed = worker(alice);
      assertThat(killed.destroyForcibly()).isTrue();
      assertThatThrownBy(() -> alice.receive(1)).isInstanceOf(IOException.class);
      assertThat(bob.call(EchoBackend.ECHO, 1, text("still on")).payload().array())
          .isEqualTo(text("still on"));
      try (WireClient again = fixture.alice()) {
        assertThat(worker(again).pid()).isNotEqualTo(killed.pid());
      }
    }
  }

  @Test
  void aWorkerThatDiesInACallClosesTheConnection() throws Exception {
    try (ServerFixture fixture = start();
        WireClient client = fixture.alice()) {
      client.record(EchoBackend.DIE, 1, 0, new byte[0]);
      assertThatThrownBy(() -> client.receive(1)).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void theWorkerGoesWhenItsClientGoes() throws Exception {
    try (ServerFixture fixture = start()) {
      ProcessHandle worker;
      try (WireClient client = fixture.alice()) {
        worker = worker(client);
      }
      assertEnds(worker);
    }
  }

  @Test
  void theWorkerGoesEvenWhileACallRuns() throws Exception {
    try (ServerFixture fixture = start()) {
      ProcessHandle worker;
      try (WireClient client = fixture.alice()) {
        worker = worker(client);
        client.record(EchoBackend.HANG, 1, 0, new byte[0]);
      }
      assertEnds(worker);
    }
  }

  @Test
  void aRecordOfWrongSizeEndsTheSession() throws Exception {
    try (ServerFixture fixture = start()) {
      for (int size : new int[] {0, 8, 15, 17, 20, -8, Channel.MAX_RECORD + 8}) {
        try (WireClient client = fixture.alice()) {
          client.send(WireClient.little(16).putInt(size).putInt(0).putLong(0).flip());
          assertThatThrownBy(() -> client.receive(1)).isInstanceOf(IOException.class);
        }
      }
    }
  }

  @Test
  void aSessionMayHaveFurtherConnections() throws Exception {
    try (ServerFixture fixture = start();
        WireClient client = fixture.alice();
        WireClient connection = client.connection(fixture.address(), "alice", 5)) {
      assertThat(worker(connection)).isEqualTo(worker(client));
      byte[] who = connection.call(EchoBackend.WHO, 0, new byte[0]).payload().array();
      assertThat(who[8]).isEqualTo((byte) 5);
    }
  }

  @Test
  void aNameThatLeavesTheTokensFileLosesItsSessionsAndNobodyElseDoes() throws Exception {
    try (ServerFixture fixture = start();
        WireClient alice = fixture.alice();
        WireClient bob = fixture.bob()) {
      ServerFixture.rewrite(folder, "bob", ServerFixture.BOB);
      assertThatThrownBy(() -> alice.receive(1)).isInstanceOf(IOException.class);
      assertThat(bob.call(EchoBackend.ECHO, 1, text("still on")).payload().array())
          .isEqualTo(text("still on"));
      assertThatThrownBy(fixture::alice).hasMessageContaining("refused 3");
    }
  }

  @Test
  void aNewTokenLeavesASessionThatRunsAlone() throws Exception {
    byte[] fresh = ServerFixture.token((byte) 7);
    try (ServerFixture fixture = start();
        WireClient running = fixture.alice()) {
      ServerFixture.rewrite(folder, "alice", fresh);
      assertThatThrownBy(fixture::alice).hasMessageContaining("refused 3");
      try (WireClient connection = running.connection(fixture.address(), "alice", 5);
          WireClient next = WireClient.session(fixture.address(), "alice", fresh)) {
        assertThat(worker(connection)).isEqualTo(worker(running));
        assertThat(worker(next)).isNotEqualTo(worker(running));
      }
    }
  }

  @Test
  void nobodyJoinsTheSessionOfAnother() throws Exception {
    try (ServerFixture fixture = start();
        WireClient alice = fixture.alice()) {
      assertThatThrownBy(() -> alice.connection(fixture.address(), "bob", ServerFixture.BOB, 0))
          .hasMessageContaining("refused 6");
    }
  }

  @Test
  void theTokensMemoryLimitReachesTheSession() throws Exception {
    try (ServerFixture fixture = start();
        WireClient bob = fixture.bob()) {
      ByteBuffer who =
          ByteBuffer.wrap(bob.call(EchoBackend.WHO, 0, new byte[0]).payload().array())
              .order(java.nio.ByteOrder.LITTLE_ENDIAN);
      assertThat(who.getLong(8)).isEqualTo(1 << 20);
    }
  }

  @Test
  void sessionsOverTheLimitAreTurnedAway() throws Exception {
    try (ServerFixture fixture = ServerFixture.start(folder, c -> c.maxSessions(1));
        WireClient first = fixture.alice()) {
      assertThatThrownBy(fixture::bob).hasMessageContaining("refused 5").hasMessageContaining("1");
      assertThat(first.call(EchoBackend.ECHO, 1, text("not hurt")).slot()).isEqualTo(1);
    }
  }

  @Test
  void closingTheServerEndsItsWorkersAndRemovesItsFolder() throws Exception {
    Path runtime = folder.resolve("run");
    ServerFixture fixture = ServerFixture.start(folder, c -> c.runtimeFolder(runtime).spares(2));
    ProcessHandle worker;
    try (WireClient client = fixture.alice()) {
      worker = worker(client);
      assertThat(Files.getPosixFilePermissions(runtime)).hasSize(3);
      fixture.close();
      assertThat(worker.isAlive()).isFalse();
    }
    assertThat(runtime).isEmptyDirectory();
  }
}
