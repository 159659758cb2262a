package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.AddressRange;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Timeout(120)
@Isolated("it counts the threads of this process")
class HandshakeTest {
  private static final Duration LIMIT = Duration.ofSeconds(3);
  private static final int MAX_HANDSHAKES = 8;

  @TempDir static Path folder;
  private static ServerFixture fixture;

  @BeforeAll
  static void start() throws Exception {
    fixture =
        ServerFixture.start(folder, c -> c.handshakeLimit(LIMIT).maxHandshakes(MAX_HANDSHAKES));
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  private static WireClient.Welcome authenticate(String name, byte[] token, long hash)
      throws IOException {
    try (WireClient client = WireClient.connect(fixture.address())) {
      return client.authenticate(name, token, hash, 0, 0, 0);
    }
  }

  @Test
  void theRightTokenIsWelcomeAndTheServerProvesItselfToo() throws Exception {
    WireClient.Welcome welcome = authenticate("alice", ServerFixture.ALICE, Dispatcher.API_HASH);
    assertThat(welcome.status()).isZero();
    assertThat(welcome.sessionId()).isNotZero();
  }

  @Test
  void aWrongTokenAndAnUnknownNameGetTheSameAnswer() throws Exception {
    WireClient.Welcome wrong = authenticate("alice", ServerFixture.BOB, Dispatcher.API_HASH);
    WireClient.Welcome unknown = authenticate("mallory", ServerFixture.BOB, Dispatcher.API_HASH);
    assertThat(wrong.status()).isEqualTo(HandshakeStatus.REFUSED.code());
    assertThat(unknown).isEqualTo(wrong);
    assertThat(wrong.sessionId()).isZero();
  }

  @Test
  void anotherApiDescriptionIsRefusedWithBothHashes() throws Exception {
    WireClient.Welcome welcome = authenticate("alice", ServerFixture.ALICE, 0xABCDEFL);
    assertThat(welcome.status()).isEqualTo(HandshakeStatus.WRONG_API.code());
    assertThat(welcome.message()).contains("0000000000abcdef").contains("one release");
  }

  @Test
  void anotherProtocolVersionIsRefused() throws Exception {
    try (WireClient client = WireClient.connect(fixture.address())) {
      client.send(
          WireClient.little(128).putInt(HandshakeMessages.MAGIC).putInt(9).position(128).flip());
      assertThat(client.receive(64).getInt(4)).isEqualTo(HandshakeStatus.WRONG_VERSION.code());
      assertThat(client.receive(256).getInt(0)).isEqualTo(HandshakeStatus.WRONG_VERSION.code());
    }
  }

  /**
   * A worker starts with nothing of what a client says but the number of a range and that of the
   * connections to the GPU.
   */
  @Test
  void onlyRangesOfAddressesThatExistAreTaken() throws Exception {
    assertThat(isChallenged(HandshakeMessages.KIND_SESSION, 0)).isTrue();
    assertThat(isChallenged(HandshakeMessages.KIND_SESSION, AddressRange.LAST << 8)).isTrue();
    for (int number = AddressRange.LAST + 1; number < 256; number++) {
      assertThat(isChallenged(HandshakeMessages.KIND_SESSION, number << 8)).isFalse();
    }
    assertThat(isChallenged(HandshakeMessages.KIND_CONNECTION, 1 << 8)).isFalse();
    assertServes();
  }

  @Test
  void onlyAsManyConnectionsToTheGpuAsThereCanBeAreTaken() throws Exception {
    assertThat(isChallenged(HandshakeMessages.KIND_SESSION, 0, 32)).isTrue();
    for (long number : new long[] {33, 1L << 31, 1L << 32 | 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThat(isChallenged(HandshakeMessages.KIND_SESSION, 0, number)).isFalse();
    }
    assertServes();
  }

  private static boolean isChallenged(int kind, int flags) throws IOException {
    return isChallenged(kind, flags, 0);
  }

  /** Returns whether the server answers a greeting with these flags and that session id. */
  private static boolean isChallenged(int kind, int flags, long session) throws IOException {
    try (WireClient client = WireClient.connect(fixture.address())) {
      client.send(
          WireClient.little(128)
              .putInt(HandshakeMessages.MAGIC)
              .putInt(HandshakeMessages.VERSION)
              .putLong(Dispatcher.API_HASH)
              .putShort(112, (short) kind)
              .putShort(114, (short) flags)
              .putLong(120, session)
              .position(128)
              .flip());
      client.receive(64);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void garbageIsNotAnswered() throws Exception {
    Random random = new Random(1);
    for (int i = 0; i < 20; i++) {
      byte[] garbage = new byte[128 + random.nextInt(2000)];
      random.nextBytes(garbage);
      try (WireClient client = WireClient.connect(fixture.address())) {
        client.send(ByteBuffer.wrap(garbage));
        assertThatThrownBy(() -> client.receive(1)).isInstanceOf(IOException.class);
      }
    }
    assertServes();
  }

  @Test
  void aTruncatedHelloCostsThatConnectionOnly() throws Exception {
    try (WireClient client = WireClient.connect(fixture.address())) {
      client.send(WireClient.little(100));
    }
    assertServes();
  }

  @Test
  void whoeverIsSlowIsCutOffAtTheTimeLimit() throws Exception {
    try (WireClient client = WireClient.connect(fixture.address())) {
      long start = System.nanoTime();
      client.send(WireClient.little(100));
      assertThatThrownBy(() -> client.receive(1)).isInstanceOf(IOException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(LIMIT.minusMillis(100), LIMIT.plusSeconds(30));
    }
  }

  @Test
  void whoeverFillsTheLobbyLosesItsOldestConnectionToTheNext() throws Exception {
    List<WireClient> silent = new ArrayList<>();
    try {
      for (int i = 0; i < MAX_HANDSHAKES; i++) {
        silent.add(WireClient.connect(fixture.address()));
        silent.get(i).send(WireClient.little(100));
      }
      long start = System.nanoTime();
      silent.add(WireClient.connect(fixture.address()));
      assertThatThrownBy(() -> silent.get(0).receive(1)).isInstanceOf(IOException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
      assertServes();
    } finally {
      for (WireClient client : silent) {
        client.close();
      }
    }
    assertServes();
  }

  @Test
  void nobodyIsLockedOutByIdleConnectionsAndWrongTokens() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger refused = new AtomicInteger();
    ExecutorService attackers = Executors.newFixedThreadPool(4);
    try {
      for (int i = 0; i < 4; i++) {
        int attacker = i;
        attackers.execute(() -> attack(attacker, over, refused));
      }
      for (int i = 0; i < 20; i++) {
        assertServes();
        assertThat(connectionThreads()).isLessThanOrEqualTo(MAX_HANDSHAKES + 64);
      }
    } finally {
      over.set(true);
      attackers.shutdown();
      assertThat(attackers.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(refused).hasValueGreaterThan(20);
  }

  /** Each attacker has an address of its own; two of the four say nothing. */
  private static void attack(int attacker, AtomicBoolean over, AtomicInteger refused) {
    ListenAddress.Tcp server = (ListenAddress.Tcp) fixture.address();
    ArrayDeque<WireClient> idle = new ArrayDeque<>();
    while (!over.get()) {
      try {
        WireClient client = WireClient.connectFrom("127.0.0." + (2 + attacker), server);
        idle.add(client);
        if (attacker >= 2) {
          client.authenticate("alice", ServerFixture.BOB, Dispatcher.API_HASH, 0, 0, 0);
        }
      } catch (IOException e) {
        refused.incrementAndGet();
      }
      // The server runs in this process, whose descriptors the attackers must not use up.
      if (idle.size() > MAX_HANDSHAKES) {
        closeQuietly(idle.remove());
      }
    }
    for (WireClient client : idle) {
      closeQuietly(client);
    }
  }

  private static void closeQuietly(WireClient client) {
    try {
      client.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long connectionThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("graft-connection"))
        .count();
  }

  @Test
  void aTokenThatIsAddedLaterIsKnown() throws Exception {
    byte[] token = ServerFixture.token((byte) 9);
    Files.writeString(
        folder.resolve("tokens"),
        "carol " + HexFormat.of().formatHex(token) + "\n",
        StandardOpenOption.APPEND);
    assertThat(authenticate("carol", token, Dispatcher.API_HASH).status()).isZero();
  }

  private static void assertServes() throws Exception {
    try (WireClient client = fixture.alice()) {
      assertThat(client.call(EchoBackend.ECHO, 3, new byte[8]).slot()).isEqualTo(3);
    }
  }

  @Test
  void aServerWithoutTokensTakesAnyoneAndItsSessionsStayApart() throws Exception {
    ServerConfig config =
        ServerConfig.withoutTokens(DeviceSpec.parse("echo"))
            .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
            .spinMicros(0)
            .build();
    byte[] none = new byte[32];
    try (GraftServer server = GraftServer.start(config);
        WireClient any = WireClient.session(server.addresses().get(0), "whoever", none)) {
      assertThat(any.call(EchoBackend.ECHO, 7, new byte[8]).slot()).isEqualTo(7);
      assertThatThrownBy(() -> any.connection(server.addresses().get(0), "whoever", none, 0))
          .hasMessageContaining("refused 3");
    }
  }
}
