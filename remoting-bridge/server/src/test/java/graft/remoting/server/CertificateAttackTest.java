package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.transport.Tls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Everybody who would like to be taken for a node, and peers that do not speak TLS to the end. */
@Timeout(300)
@Isolated("it counts the threads of this process")
class CertificateAttackTest {
  private static final Duration LIMIT = Duration.ofSeconds(4);
  private static final int MAX_HANDSHAKES = 16;

  /** The beginning of a ClientHello of 512 bytes. */
  private static final byte[] CLIENT_HELLO = {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3, 9, 9};

  @TempDir static Path made;
  private static final AtomicInteger ADDRESSES = new AtomicInteger();
  private static ServerFixture server;

  private final String from = "127.0.1." + ADDRESSES.incrementAndGet();

  @BeforeAll
  static void start() throws Exception {
    assumeTrue(Tls.obstacle().isEmpty(), () -> Tls.obstacle().get());
    NodeClient.makeCertificates(made);
    server =
        ServerFixture.of(
            ServerFixture.withTokens(NodeClient.tokens(made), "echo")
                .certificates(made.resolve("good"))
                .handshakeLimit(LIMIT)
                .maxHandshakes(MAX_HANDSHAKES));
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @AfterEach
  void allAreServed() throws Exception {
    assertNodeIsServed();
    assertAliceIsServed();
  }

  /** Each test has an address of its own, since the server counts the refusals of each. */
  private NodeClient connect() throws IOException {
    return NodeClient.connectFrom(from, server.address());
  }

  private static void assertAliceIsServed() throws IOException {
    try (WireClient alice = server.alice()) {
      assertThat(alice.call(EchoBackend.ECHO, 3, new byte[8]).slot()).isEqualTo(3);
    }
  }

  private static void assertNodeIsServed() throws IOException {
    try (NodeClient node = NodeClient.connect(server.address())) {
      WireClient.Welcome welcome = node.enter("node07", made.resolve("good"), 0);
      assertThat(welcome.status()).as(welcome.message()).isZero();
      assertThat(node.wire().call(EchoBackend.ECHO, 4, new byte[8]).slot()).isEqualTo(4);
    }
  }

  @Test
  void whoHasATokenIsNotKnownByACertificateAndTheOtherWayRound() throws Exception {
    WireClient.Welcome unknown = enter("mallory");
    assertThat(unknown.status()).isEqualTo(HandshakeStatus.REFUSED.code());
    assertThat(enter("alice")).isEqualTo(unknown);
    WireClient.Welcome wrong = withToken("mallory", ServerFixture.ALICE);
    assertThat(wrong.status()).isEqualTo(HandshakeStatus.REFUSED.code());
    for (byte[] token : List.of(new byte[32], ServerFixture.ALICE, ServerFixture.BOB)) {
      assertThat(withToken("node07", token)).isEqualTo(wrong);
    }
  }

  private WireClient.Welcome enter(String name) throws IOException {
    try (NodeClient node = connect()) {
      return node.enter(name, made.resolve("good"), 0);
    }
  }

  private static WireClient.Welcome withToken(String name, byte[] token) throws IOException {
    try (WireClient client = WireClient.connect(server.address())) {
      return client.authenticate(name, token, Dispatcher.API_HASH, 0, 0, 0);
    }
  }

  /** What a relay has seen, or what another connection has agreed on, proves nothing here. */
  @Test
  void theProofBelongsToTheConnection() throws Exception {
    try (NodeClient other = connect()) {
      byte[][] secret = new byte[1][];
      other.prove("node07", () -> secret[0] = other.agree(made.resolve("good")), 0);
      for (byte[] proved : List.of(secret[0], new byte[32], ServerFixture.ALICE)) {
        try (NodeClient node = connect()) {
          WireClient.Welcome welcome =
              node.prove(
                  "node07",
                  () -> {
                    node.agree(made.resolve("good"));
                    return proved;
                  },
                  0);
          assertThat(welcome.status()).isEqualTo(HandshakeStatus.REFUSED.code());
        }
      }
    }
  }

  /** A proof without the handshake before it, with any key that somebody could guess. */
  @Test
  void nobodyGoesOnWithoutTheHandshake() throws Exception {
    for (byte[] guessed : List.of(new byte[32], ServerFixture.ALICE)) {
      try (NodeClient node = connect()) {
        assertThatThrownBy(() -> node.prove("node07", () -> guessed, 0))
            .isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void aFurtherConnectionTakesNoCertificate() throws Exception {
    try (NodeClient node = connect()) {
      assertThatThrownBy(() -> node.enter("node07", made.resolve("good"), NodeClient.FURTHER))
          .isInstanceOf(IOException.class);
    }
  }

  /** Sends a greeting of a node, receives the challenge, and sends that. */
  private NodeClient begin(byte[] bytes) throws IOException {
    NodeClient node = connect();
    node.wire()
        .send(
            WireClient.little(HandshakeMessages.HELLO)
                .putInt(HandshakeMessages.MAGIC)
                .putInt(HandshakeMessages.VERSION)
                .putLong(Dispatcher.API_HASH)
                .position(HandshakeMessages.NAME_AT)
                .put("node07".getBytes(StandardCharsets.US_ASCII))
                .position(112)
                .putInt(NodeClient.CERTIFICATE)
                .position(HandshakeMessages.HELLO)
                .flip());
    assertThat(node.wire().receive(64).getInt(4)).isZero();
    node.wire().send(ByteBuffer.wrap(bytes));
    return node;
  }

  /** At most an alert of TLS comes before the connection's end: no welcome. */
  private static void assertEnds(NodeClient node) {
    assertThatThrownBy(() -> node.wire().receive(HandshakeMessages.WELCOME))
        .isInstanceOf(IOException.class);
  }

  @Test
  void garbageInPlaceOfTlsCostsThatConnectionOnly() throws Exception {
    Random random = new Random(5);
    for (int i = 0; i < 12; i++) {
      byte[] garbage = new byte[600 + random.nextInt(3000)];
      random.nextBytes(garbage);
      if (i % 2 == 0) {
        System.arraycopy(CLIENT_HELLO, 0, garbage, 0, CLIENT_HELLO.length);
      }
      try (NodeClient node = begin(garbage)) {
        assertEnds(node);
      }
    }
  }

  @Test
  void whoeverStopsInTheMiddleIsCutOffAtTheTimeLimit() throws Exception {
    for (int length : new int[] {0, 3, CLIENT_HELLO.length}) {
      long start = System.nanoTime();
      try (NodeClient node = begin(Arrays.copyOf(CLIENT_HELLO, length))) {
        assertEnds(node);
      }
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(LIMIT.minusMillis(200), LIMIT.plusSeconds(30));
    }
  }

  @Test
  void whoeverStopsAfterTheHandshakeIsCutOffToo() throws Exception {
    try (NodeClient node = begin(new byte[0])) {
      assertThat(node.agree(made.resolve("good"))).hasSize(32);
      assertEnds(node);
    }
  }

  /** What strangers have got. */
  private record Flood(
      AtomicBoolean over, AtomicInteger refused, AtomicInteger notBegun, AtomicInteger sessions) {}

  /**
   * Strangers with certificates of another authority, each from an address of its own: the good
   * ones get in, and an address whose certificates were refused too often gets no further work.
   */
  @Test
  void aFloodOfHandshakesLeavesRoom() throws Exception {
    Flood flood =
        new Flood(
            new AtomicBoolean(), new AtomicInteger(), new AtomicInteger(), new AtomicInteger());
    ExecutorService attackers = Executors.newFixedThreadPool(4);
    try {
      for (int i = 0; i < 4; i++) {
        String from = "127.0.0." + (2 + i);
        attackers.execute(() -> attack(from, flood));
      }
      for (int i = 0; i < 6 || flood.refused().get() <= 20 || flood.notBegun().get() == 0; i++) {
        assertAliceIsServed();
        assertNodeIsServed();
        assertThat(connectionThreads()).isLessThanOrEqualTo(MAX_HANDSHAKES + 64);
      }
    } finally {
      flood.over().set(true);
      attackers.shutdown();
      assertThat(attackers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(flood.sessions()).hasValue(0);
    assertThat(flood.refused()).hasValueGreaterThan(20);
    assertThat(flood.notBegun()).as("handshakes not begun").hasValueGreaterThan(0);
  }

  private static long connectionThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("graft-connection"))
        .count();
  }

  private static void attack(String from, Flood flood) {
    while (!flood.over().get()) {
      AtomicBoolean begun = new AtomicBoolean();
      try (NodeClient node = NodeClient.connectFrom(from, server.address())) {
        WireClient.Welcome welcome =
            node.prove(
                "node07",
                () -> {
                  begun.set(true);
                  return node.agree(made.resolve("stranger"));
                },
                0);
        (welcome.status() == 0 ? flood.sessions() : flood.refused()).incrementAndGet();
      } catch (IOException e) {
        (begun.get() ? flood.refused() : flood.notBegun()).incrementAndGet();
      }
    }
  }
}
