package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.LocalAddress;
import graft.remoting.server.transport.Tls;
import graft.remoting.server.transport.TlsPeer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What somebody on the wire between a client and the server reads and changes, after having let the
 * client authenticate: everything without encryption, nothing with it.
 */
@Timeout(120)
class EncryptedWireTest {
  /** In HELLO's fields "kind" and "flags": a session, and the demand for TLS. */
  private static final int ENCRYPTED = 1 << 16;

  private static final int FURTHER = 1;

  /** The byte of HELLO with the demand. */
  private static final int FLAGS = 114;

  private static final int REFUSED = 3;
  private static final int NO_CHANNEL = 8;
  private static final byte[] SECRET =
      "the weights of a model ...".substring(0, 24).getBytes(StandardCharsets.US_ASCII);

  @TempDir Path folder;

  @BeforeEach
  void opensslIsHere() {
    assumeTrue(Tls.obstacle().isEmpty(), () -> Tls.obstacle().get());
  }

  private ServerFixture server() throws Exception {
    return ServerFixture.start(folder, c -> c);
  }

  private static WireClient.Welcome authenticate(WireClient client, int kind) throws IOException {
    return client.authenticate("alice", ServerFixture.ALICE, Dispatcher.API_HASH, kind, 0, 0);
  }

  /** A session over TLS; the relay lets it authenticate. */
  private static WireClient encrypted(ListenAddress address) throws IOException {
    NativeByteChannel channel = NativeByteChannel.connect((ListenAddress.Tcp) address);
    WireClient plain = new WireClient(channel);
    WireClient.Welcome welcome = authenticate(plain, ENCRYPTED);
    assertThat(welcome.status()).as(welcome.message()).isZero();
    return new WireClient(new NativeByteChannel(TlsPeer.connect(channel.socket(), plain.tlsKey())));
  }

  private static byte[] echo(WireClient client) throws IOException {
    return client.call(EchoBackend.ECHO, 1, SECRET).payload().array();
  }

  /** A record that asks for an echo, as the relay would send it. */
  private static byte[] record() {
    return WireClient.little(16 + SECRET.length)
        .putInt(16 + SECRET.length)
        .putShort((short) EchoBackend.ECHO)
        .putShort((short) 1)
        .putInt(9)
        .putInt(0)
        .put(SECRET)
        .array();
  }

  @Test
  void withoutEncryptionARelayReadsAndInjects() throws Exception {
    try (ServerFixture server = server();
        WireRelay relay = WireRelay.before(server.address());
        WireClient client = WireClient.connect(relay.address())) {
      assertThat(authenticate(client, 0).status()).isZero();
      assertThat(echo(client)).isEqualTo(SECRET);
      assertThat(relay.hasSeen(SECRET)).isTrue();
      relay.inject(record());
      assertThat(client.answer().slot()).as("an answer to the relay's record").isEqualTo(9);
    }
  }

  @Test
  void withItARelayReadsNothing() throws Exception {
    try (ServerFixture server = server();
        WireRelay relay = WireRelay.before(server.address());
        WireClient client = encrypted(relay.address())) {
      assertThat(echo(client)).isEqualTo(SECRET);
      assertThat(relay.hasSeen("alice".getBytes(StandardCharsets.US_ASCII)))
          .as("the relay sees the greeting")
          .isTrue();
      assertThat(relay.hasSeen(SECRET)).isFalse();
    }
  }

  @Test
  void whatARelayInjectsEndsTheSession() throws Exception {
    try (ServerFixture server = server();
        WireRelay relay = WireRelay.before(server.address());
        WireClient client = encrypted(relay.address())) {
      assertThat(echo(client)).isEqualTo(SECRET);
      relay.inject(record());
      assertThatThrownBy(client::answer).isInstanceOf(IOException.class);
      assertThat(relay.hasSeen(SECRET)).as("an answer to the relay's record").isFalse();
    }
  }

  @Test
  void aRelayThatTakesOverAfterTheWelcomeGetsNoAnswer() throws Exception {
    try (ServerFixture server = server();
        WireClient relay = WireClient.connect(server.address())) {
      assertThat(authenticate(relay, ENCRYPTED).status()).isZero();
      relay.record(EchoBackend.ECHO, 1, 1, SECRET);
      // At most TLS's alert comes, which is shorter than an answer with the secret.
      assertThatThrownBy(() -> relay.receive(16 + SECRET.length)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void anotherKeyIsRefused() throws Exception {
    try (ServerFixture server = server()) {
      NativeByteChannel channel = NativeByteChannel.connect((ListenAddress.Tcp) server.address());
      assertThat(authenticate(new WireClient(channel), ENCRYPTED).status()).isZero();
      assertThatThrownBy(() -> TlsPeer.connect(channel.socket(), new byte[32]))
          .hasMessageContaining("the TLS handshake failed");
      channel.close();
    }
  }

  /** The proofs cover the greeting, so that neither end can be talked out of its choice. */
  @Test
  void theDemandCannotBeChangedOnTheWire() throws Exception {
    try (ServerFixture server = server();
        WireRelay relay = WireRelay.before(server.address(), FLAGS, 0)) {
      for (int kind : new int[] {0, ENCRYPTED}) {
        try (WireClient client = WireClient.connect(relay.address())) {
          assertThat(authenticate(client, kind).status()).isEqualTo(REFUSED);
        }
      }
    }
  }

  @Test
  void aDemandThatTheServerDoesNotKnowIsRefused() throws Exception {
    try (ServerFixture server = server();
        WireClient client = WireClient.connect(server.address())) {
      assertThatThrownBy(() -> authenticate(client, 1 << 19)).isInstanceOf(IOException.class);
    }
  }

  private WireClient.Welcome fromTheNetwork(String host, int kind) throws Exception {
    try (GraftServer server =
        GraftServer.start(
            ServerConfig.builder(folder.resolve("tokens"), DeviceSpec.parse("echo"))
                .listen(ListenAddress.parse("tcp://" + host + ":0"))
                .build())) {
      NativeByteChannel channel =
          NativeByteChannel.connect((ListenAddress.Tcp) server.addresses().get(0));
      try (WireClient client = new WireClient(channel)) {
        return authenticate(client, kind);
      }
    }
  }

  @Test
  void connectionsFromOtherMachinesHaveToBeEncrypted() throws Exception {
    Optional<String> host = LocalAddress.network();
    assumeTrue(host.isPresent(), "this machine has no address but that of the loopback interface");
    Path tokens = ServerFixture.tokens(folder);
    WireClient.Welcome refused = fromTheNetwork(host.get(), 0);
    assertThat(refused.status()).isEqualTo(NO_CHANNEL);
    assertThat(refused.message())
        .contains("have to be encrypted", "encryption = never", "encryption=optional");
    assertThat(fromTheNetwork(host.get(), ENCRYPTED).status()).isZero();
    String allowed =
        Files.readString(tokens).replaceFirst("(alice \\S+)", "$1 encryption=optional");
    Files.writeString(tokens, allowed);
    assertThat(fromTheNetwork(host.get(), 0).status()).isZero();
  }

  /**
   * A further connection's key comes from the session's secret and the connection's own nonces, so
   * that a session outlives the token that began it; neither token opens a connection of it.
   */
  @Test
  void furtherConnectionsOfARunningSessionOutliveItsToken() throws Exception {
    byte[] next = ServerFixture.token((byte) 9);
    try (ServerFixture server = server()) {
      ListenAddress.Tcp address = (ListenAddress.Tcp) server.address();
      NativeByteChannel channel = NativeByteChannel.connect(address);
      WireClient plain = new WireClient(channel);
      long session = authenticate(plain, ENCRYPTED).sessionId();
      byte[] secret = plain.sessionSecret();
      byte[] key = plain.tlsKey();
      try (WireClient running =
          new WireClient(new NativeByteChannel(TlsPeer.connect(channel.socket(), key)))) {
        ServerFixture.rewrite(folder, "alice", next);
        try (WireClient old = WireClient.connect(address)) {
          assertThat(authenticate(old, ENCRYPTED).status()).isEqualTo(REFUSED);
        }
        assertThat(further(address, secret, session)).isNotEqualTo(Bytes.of(key));
        for (byte[] token : List.of(ServerFixture.ALICE, next)) {
          assertThatThrownBy(() -> further(address, token, session))
              .isInstanceOf(AssertionError.class);
        }
        assertThat(echo(running)).isEqualTo(SECRET);
      }
    }
  }

  /** Opens an encrypted connection for bulk data, and returns its key. */
  private static Bytes further(ListenAddress.Tcp address, byte[] secret, long session)
      throws IOException {
    NativeByteChannel channel = NativeByteChannel.connect(address);
    WireClient plain = new WireClient(channel);
    WireClient.Welcome welcome =
        plain.authenticate(
            "alice",
            secret,
            Dispatcher.API_HASH,
            ENCRYPTED | FURTHER,
            HandshakeMessages.CONNECTION_DATA,
            session);
    assertThat(welcome.status()).as(welcome.message()).isZero();
    new NativeByteChannel(TlsPeer.connect(channel.socket(), plain.tlsKey())).close();
    return Bytes.of(plain.tlsKey());
  }

  @Test
  void keysAreOfEachConnectionAlone() throws Exception {
    try (ServerFixture server = server();
        WireClient one = WireClient.connect(server.address());
        WireClient other = WireClient.connect(server.address())) {
      authenticate(one, ENCRYPTED);
      authenticate(other, ENCRYPTED);
      assertThat(Bytes.of(one.tlsKey())).isNotEqualTo(Bytes.of(other.tlsKey()));
    }
  }
}
