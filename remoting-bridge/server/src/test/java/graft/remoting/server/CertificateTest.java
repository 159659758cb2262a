package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.NodePeer;
import graft.remoting.server.transport.Tls;
import graft.remoting.server.transport.TlsPeer;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Nodes that authenticate with a certificate in place of a token, and everybody who would like to
 * be taken for one.
 */
@Timeout(120)
class CertificateTest {
  /** Flags of HELLO, whose field "kind" is before them. */
  private static final int ENCRYPTED = 1 << 16;

  private static final int CERTIFICATE = 2 << 16;
  private static final int FURTHER = 1;
  private static final Duration LIMIT = Duration.ofSeconds(2);

  /** One folder in libvirt's layout for each way in which certificates can be right or wrong. */
  @TempDir static Path made;

  @TempDir Path folder;
  private Path files;
  private ServerFixture server;

  @BeforeAll
  static void makeCertificates() throws Exception {
    assumeTrue(Tls.obstacle().isEmpty(), () -> Tls.obstacle().get());
    Process script =
        new ProcessBuilder("../client/test/certificates.sh", made.toString()).inheritIO().start();
    assertThat(script.waitFor()).isZero();
  }

  @BeforeEach
  void start() throws Exception {
    files = folder.resolve("pki");
    copy("good", files);
    server = start(c -> c.certificates(files).handshakeLimit(LIMIT).maxHandshakes(16));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static void copy(String from, Path to) throws Exception {
    Process copy =
        new ProcessBuilder("cp", "-a", made.resolve(from).toString(), to.toString()).start();
    assertThat(copy.waitFor()).isZero();
  }

  private ServerFixture start(java.util.function.UnaryOperator<ServerConfig.Builder> change)
      throws Exception {
    return ServerFixture.of(change.apply(ServerFixture.withTokens(tokens(), "echo")));
  }

  private Path tokens() throws IOException {
    return write(
        "alice "
            + HexFormat.of().formatHex(ServerFixture.ALICE)
            + "\nnode07 certificate=node07.cluster.example\n"
            + "short certificate=node07\n"
            + "one certificate=NODE07.cluster.example max-sessions=1\n");
  }

  private Path write(String lines) throws IOException {
    Path next = folder.resolve("tokens.new");
    Files.writeString(next, lines);
    Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-------"));
    return Files.move(
        next,
        folder.resolve("tokens"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  /** A client on a socket that can have TLS. */
  private record Line(NativeByteChannel channel, WireClient client) implements AutoCloseable {
    static Line to(ServerFixture server) throws IOException {
      NativeByteChannel channel = NativeByteChannel.connect((ListenAddress.Tcp) server.address());
      return new Line(channel, new WireClient(channel));
    }

    byte[] agree(String certificates) throws IOException {
      return NodePeer.connect(channel.socket(), made.resolve(certificates), "localhost");
    }

    WireClient.Welcome enter(String name, String certificates, int kind) throws IOException {
      return client.authenticate(
          name,
          () -> agree(certificates),
          Dispatcher.API_HASH,
          kind | CERTIFICATE,
          HandshakeMessages.CHANNEL_SOCKET,
          0);
    }

    @Override
    public void close() {
      channel.close();
    }
  }

  private WireClient.Welcome enter(String name, String certificates) throws IOException {
    try (Line line = Line.to(server)) {
      return line.enter(name, certificates, 0);
    }
  }

  private static void assertServes(WireClient client) throws IOException {
    assertThat(client.call(EchoBackend.ECHO, 3, new byte[8]).slot()).isEqualTo(3);
  }

  private void assertAliceIsServed() throws IOException {
    try (WireClient alice = server.alice()) {
      assertServes(alice);
    }
  }

  @Test
  void aNodeNeedsNoToken() throws Exception {
    try (Line line = Line.to(server)) {
      WireClient.Welcome welcome = line.enter("node07", "good", 0);
      assertThat(welcome.status()).as(welcome.message()).isZero();
      assertServes(line.client());
    }
    assertAliceIsServed();
  }

  @Test
  void itsConnectionsAreEncryptedAndItsSessionHasFurtherOnes() throws Exception {
    try (Line line = Line.to(server)) {
      WireClient.Welcome welcome = line.enter("node07", "good", ENCRYPTED);
      assertThat(welcome.status()).as(welcome.message()).isZero();
      WireClient session =
          new WireClient(
              new NativeByteChannel(
                  TlsPeer.connect(line.channel().socket(), line.client().tlsKey())));
      assertServes(session);
      try (Line further = Line.to(server)) {
        WireClient.Welcome joined =
            further
                .client()
                .authenticate(
                    "node07",
                    line.client().sessionSecret(),
                    Dispatcher.API_HASH,
                    ENCRYPTED | FURTHER,
                    HandshakeMessages.CONNECTION_DATA,
                    welcome.sessionId());
        assertThat(joined.status()).as(joined.message()).isZero();
        TlsPeer.connect(further.channel().socket(), further.client().tlsKey());
      }
      assertServes(session);
    }
  }

  /** An address of this machine that is not on the loopback interface. */
  private static Optional<String> network() throws IOException {
    return NetworkInterface.networkInterfaces()
        .flatMap(card -> Collections.list(card.getInetAddresses()).stream())
        .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
        .map(InetAddress::getHostAddress)
        .findFirst();
  }

  @Test
  void aNodeOnTheNetworkHasToEncryptAsEverybody() throws Exception {
    Optional<String> host = network();
    assumeTrue(host.isPresent(), "this machine has no address but that of the loopback interface");
    ServerConfig config =
        ServerConfig.builder(tokens(), DeviceSpec.parse("echo"))
            .certificates(files)
            .listen(ListenAddress.parse("tcp://" + host.get() + ":0"))
            .build();
    try (GraftServer away = GraftServer.start(config)) {
      ListenAddress.Tcp address = (ListenAddress.Tcp) away.addresses().get(0);
      for (int kind : new int[] {0, ENCRYPTED}) {
        NativeByteChannel channel = NativeByteChannel.connect(address);
        try (Line line = new Line(channel, new WireClient(channel))) {
          assertThat(line.enter("node07", "good", kind).status())
              .isEqualTo(kind == 0 ? HandshakeStatus.NO_CHANNEL.code() : 0);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "stranger,unable to get local issuer certificate",
    "self,self",
    "expired,certificate has expired",
    "early,certificate is not yet valid",
    "purpose,purpose",
    "elsewhere,which is for node08.cluster.example",
    "common,which is for node07"
  })
  void aWrongCertificateIsRefusedWithTheReason(String certificates, String words) throws Exception {
    WireClient.Welcome welcome = enter("node07", certificates);
    assertThat(welcome.status()).isEqualTo(HandshakeStatus.REFUSED.code());
    assertThat(welcome.message()).contains(words);
    assertThat(welcome.sessionId()).isZero();
    assertAliceIsServed();
  }

  /** As in libvirt's documentation; a certificate with alternative names is for these alone. */
  @Test
  void aCommonNameCountsIfThereIsNoOtherName() throws Exception {
    assertThat(enter("short", "common").status()).isZero();
    assertThat(enter("short", "good").message()).contains("which is for node07.cluster.example");
    assertThat(enter("one", "good").status()).as("upper case").isZero();
  }

  @Test
  void anAuthorityBetweenIsSentWithTheCertificate() throws Exception {
    assertThat(enter("node07", "chain").status()).isZero();
  }

  @Test
  void whoHasATokenIsNotKnownByACertificateAndTheOtherWayRound() throws Exception {
    WireClient.Welcome unknown = enter("mallory", "good");
    assertThat(unknown.status()).isEqualTo(HandshakeStatus.REFUSED.code());
    assertThat(enter("alice", "good")).isEqualTo(unknown);
    List<byte[]> tokens = List.of(new byte[32], ServerFixture.ALICE, ServerFixture.BOB);
    WireClient.Welcome wrong = withToken("mallory", ServerFixture.ALICE);
    assertThat(wrong.status()).isEqualTo(HandshakeStatus.REFUSED.code());
    for (byte[] token : tokens) {
      assertThat(withToken("node07", token)).isEqualTo(wrong);
    }
  }

  private WireClient.Welcome withToken(String name, byte[] token) throws IOException {
    try (WireClient client = WireClient.connect(server.address())) {
      return client.authenticate(name, token, Dispatcher.API_HASH, 0, 0, 0);
    }
  }

  /** What a relay has seen, or what another connection has agreed on, proves nothing here. */
  @Test
  void theProofBelongsToTheConnection() throws Exception {
    try (Line other = Line.to(server)) {
      byte[][] secret = new byte[1][];
      other
          .client()
          .authenticate(
              "node07",
              () -> secret[0] = other.agree("good"),
              Dispatcher.API_HASH,
              CERTIFICATE,
              0,
              0);
      for (byte[] proved : List.of(secret[0], new byte[32], ServerFixture.ALICE)) {
        try (Line line = Line.to(server)) {
          WireClient.Welcome welcome =
              line.client()
                  .authenticate(
                      "node07",
                      () -> {
                        line.agree("good");
                        return proved;
                      },
                      Dispatcher.API_HASH,
                      CERTIFICATE,
                      0,
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
      try (Line line = Line.to(server)) {
        assertThatThrownBy(
                () ->
                    line.client()
                        .authenticate("node07", guessed, Dispatcher.API_HASH, CERTIFICATE, 0, 0))
            .isInstanceOf(IOException.class);
      }
    }
    assertAliceIsServed();
  }

  @Test
  void aFurtherConnectionTakesNoCertificate() throws Exception {
    try (Line line = Line.to(server)) {
      assertThatThrownBy(() -> line.enter("node07", "good", FURTHER))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aServerWithoutCertificatesSaysSo() throws Exception {
    try (ServerFixture plain = start(c -> c);
        Line line = Line.to(plain)) {
      WireClient.Welcome welcome = line.enter("node07", "good", 0);
      assertThat(welcome.status()).isEqualTo(HandshakeStatus.NO_CERTIFICATES.code());
      assertThat(welcome.message()).contains("--certificates");
      assertThat(plain.server.certificateNotices())
          .hasSize(3)
          .first()
          .asString()
          .contains("node07");
    }
  }

  @Test
  void aServerOfAnotherNameIsRefusedByTheClient() throws Exception {
    try (ServerFixture other = start(c -> c.certificates(made.resolve("other-host")));
        Line line = Line.to(other)) {
      assertThatThrownBy(() -> line.enter("node07", "good", 0))
          .hasMessageContaining("the server's certificate is not for localhost");
    }
  }

  @Test
  void theLineOfTheNodeHasItsLimits() throws Exception {
    try (Line first = Line.to(server)) {
      assertThat(first.enter("one", "good", 0).status()).isZero();
      assertThat(enter("one", "good").status()).isEqualTo(HandshakeStatus.BUSY.code());
    }
  }

  @Test
  void withoutItsLineANodesSessionsEnd() throws Exception {
    try (Line line = Line.to(server)) {
      assertThat(line.enter("node07", "good", 0).status()).isZero();
      assertServes(line.client());
      write("alice " + HexFormat.of().formatHex(ServerFixture.ALICE) + "\n");
      assertThatThrownBy(line.client()::answer).isInstanceOf(IOException.class);
      assertThat(enter("node07", "good").status()).isEqualTo(HandshakeStatus.REFUSED.code());
    }
  }

  @Test
  void aListOfRevokedCertificatesNeedsNoRestart() throws Exception {
    assertThat(enter("node07", "revoked").status()).isZero();
    Path list = files.resolve("CA/cacrl.pem");
    Files.copy(made.resolve("lists/CA/cacrl.pem"), list);
    assertThat(enter("node07", "revoked").message()).contains("certificate revoked");
    assertThat(enter("node07", "good").status()).isZero();
    Files.copy(made.resolve("old-list/CA/cacrl.pem"), list, StandardCopyOption.REPLACE_EXISTING);
    assertThat(enter("node07", "good").message()).contains("CRL has expired");
    assertAliceIsServed();
  }

  @Test
  void filesThatBreakWhileTheServerRunsHarmNoTokens() throws Exception {
    Path key = files.resolve("libvirt/private/serverkey.pem");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    WireClient.Welcome welcome = enter("node07", "good");
    assertThat(welcome.status()).isEqualTo(HandshakeStatus.NO_WORKER.code());
    assertThat(welcome.message()).contains("its log says why").doesNotContain("serverkey");
    assertAliceIsServed();
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(enter("node07", "good").status()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "password"})
  void aServerThatCannotUseItsFilesDoesNotStart(String certificates) {
    assertThatThrownBy(() -> start(c -> c.certificates(made.resolve(certificates))))
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("the server's certificates cannot be used")
        .hasMessageContaining(made.resolve(certificates).toString());
  }

  @Test
  void certificatesWithoutATokensFileAreAMistake() {
    assertThatThrownBy(
            () ->
                ServerConfig.withoutTokens(DeviceSpec.parse("echo"))
                    .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
                    .certificates(files)
                    .build())
        .hasMessageContaining("needs a tokens file");
  }

  @Test
  void whatEndsSoonIsSaid() throws Exception {
    assertThat(server.server.certificateNotices()).isEmpty();
    try (ServerFixture soon = start(c -> c.certificates(made.resolve("soon")))) {
      assertThat(soon.server.certificateNotices())
          .hasSize(2)
          .allSatisfy(line -> assertThat(line).contains(" ends at ", "renew it"))
          .first()
          .asString()
          .contains("servercert.pem");
    }
    try (ServerFixture old = start(c -> c.certificates(made.resolve("old-list")))) {
      assertThat(old.server.certificateNotices())
          .singleElement()
          .asString()
          .contains("cacrl.pem", "every certificate is refused");
    }
  }

  // ---- Clients that do not speak TLS, or not to the end ----

  /** Sends a greeting of a node, receives the challenge, and sends that. */
  private Line begin(byte[] bytes) throws IOException {
    Line line = Line.to(server);
    line.client()
        .send(
            WireClient.little(128)
                .putInt(HandshakeMessages.MAGIC)
                .putInt(HandshakeMessages.VERSION)
                .putLong(Dispatcher.API_HASH)
                .position(48)
                .put("node07".getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                .position(112)
                .putInt(CERTIFICATE)
                .position(128)
                .flip());
    assertThat(line.client().receive(64).getInt(4)).isZero();
    line.client().send(ByteBuffer.wrap(bytes));
    return line;
  }

  @Test
  void garbageInPlaceOfTlsCostsThatConnectionOnly() throws Exception {
    Random random = new Random(5);
    byte[] clientHello = {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3};
    for (int i = 0; i < 12; i++) {
      byte[] garbage = new byte[600 + random.nextInt(3000)];
      random.nextBytes(garbage);
      if (i % 2 == 0) {
        System.arraycopy(clientHello, 0, garbage, 0, clientHello.length);
      }
      try (Line line = begin(garbage)) {
        assertEnds(line);
      }
    }
    assertAliceIsServed();
    assertThat(enter("node07", "good").status()).isZero();
  }

  /** At most an alert of TLS comes before the connection's end: no welcome. */
  private static void assertEnds(Line line) {
    assertThatThrownBy(() -> line.client().receive(HandshakeMessages.WELCOME))
        .isInstanceOf(IOException.class);
  }

  @Test
  void whoeverStopsInTheMiddleIsCutOffAtTheTimeLimit() throws Exception {
    byte[] clientHello = {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3, 9, 9};
    for (int length : new int[] {0, 3, clientHello.length}) {
      long start = System.nanoTime();
      try (Line line = begin(java.util.Arrays.copyOf(clientHello, length))) {
        assertEnds(line);
      }
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(LIMIT.minusMillis(200), LIMIT.plusSeconds(8));
    }
    assertAliceIsServed();
  }

  @Test
  void whoeverStopsAfterTheHandshakeIsCutOffToo() throws Exception {
    try (Line line = begin(new byte[0])) {
      assertThat(line.agree("good")).hasSize(32);
      assertEnds(line);
    }
  }

  /**
   * Strangers with certificates of another authority, each from an address of its own: the good
   * ones get in, and an address whose certificates were refused too often gets no further work.
   */
  @Test
  void aFloodOfHandshakesLeavesRoom() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger turnedAway = new AtomicInteger();
    List<Throwable> let = Collections.synchronizedList(new ArrayList<>());
    ExecutorService attackers = Executors.newFixedThreadPool(4);
    try {
      for (int i = 0; i < 4; i++) {
        String from = "127.0.0." + (2 + i);
        attackers.execute(() -> flood(from, over, refused, turnedAway, let));
      }
      for (int i = 0; i < 15; i++) {
        assertAliceIsServed();
        assertThat(enter("node07", "good").status()).isZero();
        assertThat(
                Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("graft-connection"))
                    .count())
            .isLessThanOrEqualTo(16 + 64);
      }
    } finally {
      over.set(true);
      attackers.shutdown();
      assertThat(attackers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(let).isEmpty();
    assertThat(refused).hasValueGreaterThan(20);
    assertThat(turnedAway).as("handshakes that were not even begun").hasValueGreaterThan(0);
  }

  private void flood(
      String from,
      AtomicBoolean over,
      AtomicInteger refused,
      AtomicInteger turnedAway,
      List<Throwable> let) {
    ListenAddress.Tcp address = (ListenAddress.Tcp) server.address();
    while (!over.get()) {
      boolean[] begun = new boolean[1];
      try {
        NativeByteChannel channel = NativeByteChannel.connectFrom(from, address);
        try (Line line = new Line(channel, new WireClient(channel))) {
          WireClient.Welcome welcome =
              line.client()
                  .authenticate(
                      "node07",
                      () -> {
                        begun[0] = true;
                        return line.agree("stranger");
                      },
                      Dispatcher.API_HASH,
                      CERTIFICATE,
                      0,
                      0);
          if (welcome.status() == 0) {
            let.add(new AssertionError("a stranger got a session"));
          }
          refused.incrementAndGet();
        }
      } catch (IOException e) {
        (begun[0] ? refused : turnedAway).incrementAndGet();
      }
    }
  }
}
