package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.LocalAddress;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.Tls;
import graft.remoting.server.transport.TlsPeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that authenticate with a certificate in place of a token. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class CertificateTest {
  @TempDir static Path made;

  @TempDir Path folder;
  private Path files;
  private ServerFixture server;

  @BeforeAll
  static void makeCertificates() throws Exception {
    assumeTrue(Tls.obstacle().isEmpty(), () -> Tls.obstacle().get());
    NodeClient.makeCertificates(made);
  }

  @BeforeEach
  void start() throws Exception {
    files = folder.resolve("pki");
    NodeClient.copy(made.resolve("good"), files);
    server = start(c -> c.certificates(files));
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  private ServerFixture start(UnaryOperator<ServerConfig.Builder> change) throws Exception {
    return ServerFixture.of(
        change.apply(ServerFixture.withTokens(NodeClient.tokens(folder), "echo")));
  }

  private WireClient.Welcome enter(String name, String certificates) throws IOException {
    try (NodeClient node = NodeClient.connect(server.address())) {
      return node.enter(name, made.resolve(certificates), 0);
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
    try (NodeClient node = NodeClient.connect(server.address())) {
      WireClient.Welcome welcome = node.enter("node07", made.resolve("good"), 0);
      assertThat(welcome.status()).as(welcome.message()).isZero();
      assertServes(node.wire());
    }
    assertAliceIsServed();
  }

  @Test
  void itsConnectionsAreEncryptedAndItsSessionHasFurtherOnes() throws Exception {
    try (NodeClient node = NodeClient.connect(server.address());
        NodeClient further = NodeClient.connect(server.address())) {
      WireClient.Welcome welcome = node.enter("node07", made.resolve("good"), NodeClient.ENCRYPTED);
      assertThat(welcome.status()).as(welcome.message()).isZero();
      WireClient session = encrypted(node);
      assertServes(session);
      WireClient.Welcome joined =
          further
              .wire()
              .authenticate(
                  "node07",
                  node.wire().sessionSecret(),
                  Dispatcher.API_HASH,
                  NodeClient.ENCRYPTED | NodeClient.FURTHER,
                  HandshakeMessages.CONNECTION_DATA,
                  welcome.sessionId());
      assertThat(joined.status()).as(joined.message()).isZero();
      encrypted(further);
      assertServes(session);
    }
  }

  private static WireClient encrypted(NodeClient node) throws IOException {
    return new WireClient(
        new NativeByteChannel(TlsPeer.connect(node.channel().socket(), node.wire().tlsKey())));
  }

  @Test
  void aNodeOnTheNetworkHasToEncryptAsEverybody() throws Exception {
    Optional<String> host = LocalAddress.network();
    assumeTrue(host.isPresent(), "this machine has no address but that of the loopback interface");
    ServerConfig config =
        ServerConfig.builder(NodeClient.tokens(folder), DeviceSpec.parse("echo"))
            .certificates(files)
            .listen(ListenAddress.parse("tcp://" + host.get() + ":0"))
            .build();
    try (GraftServer away = GraftServer.start(config)) {
      for (int kind : new int[] {0, NodeClient.ENCRYPTED}) {
        try (NodeClient node = NodeClient.connect(away.addresses().get(0))) {
          assertThat(node.enter("node07", made.resolve("good"), kind).status())
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
  void aServerWithoutCertificatesSaysSo() throws Exception {
    try (ServerFixture plain = start(c -> c);
        NodeClient node = NodeClient.connect(plain.address())) {
      WireClient.Welcome welcome = node.enter("node07", made.resolve("good"), 0);
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
        NodeClient node = NodeClient.connect(other.address())) {
      assertThatThrownBy(() -> node.enter("node07", made.resolve("good"), 0))
          .hasMessageContaining("the server's certificate is not for localhost");
    }
  }

  @Test
  void theLineOfTheNodeHasItsLimits() throws Exception {
    try (NodeClient first = NodeClient.connect(server.address())) {
      assertThat(first.enter("one", made.resolve("good"), 0).status()).isZero();
      assertThat(enter("one", "good").status()).isEqualTo(HandshakeStatus.BUSY.code());
    }
  }

  @Test
  void withoutItsLineANodesSessionsEnd() throws Exception {
    try (NodeClient node = NodeClient.connect(server.address())) {
      assertThat(node.enter("node07", made.resolve("good"), 0).status()).isZero();
      assertServes(node.wire());
      NodeClient.writeTokens(
          folder, "alice " + HexFormat.of().formatHex(ServerFixture.ALICE) + "\n");
      assertThatThrownBy(node.wire()::answer).isInstanceOf(IOException.class);
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
}
