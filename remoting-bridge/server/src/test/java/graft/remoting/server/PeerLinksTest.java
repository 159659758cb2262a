package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.CudaResult;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies from server to server, between two real servers, and with a hostile one: whoever has a
 * ticket may send anything, and ends at most the link.
 */
@Timeout(120)
class PeerLinksTest {
  private static final int LINK = 3;
  private static final int LENGTH = (5 << 20) + 12345;

  @TempDir static Path folder;
  private static GraftServer near;
  private static GraftServer far;

  private WireClient nearWire;
  private WireClient farWire;
  private CudaClient source;
  private CudaClient target;

  @BeforeAll
  static void start() throws Exception {
    far = start(folder.resolve("far"), List.of());
    near = start(folder.resolve("near"), far.addresses());
  }

  private static GraftServer start(Path itsFolder, List<ListenAddress> peers) throws Exception {
    Files.createDirectory(itsFolder);
    return GraftServer.start(
        ServerConfig.builder(ServerFixture.tokens(itsFolder), DeviceSpec.parse("fake"))
            .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
            .peers(peers)
            .build());
  }

  @AfterAll
  static void stop() {
    near.close();
    far.close();
  }

  @BeforeEach
  void connect() throws IOException {
    nearWire = WireClient.session(near.addresses().get(0), "alice", ServerFixture.ALICE);
    farWire = WireClient.session(far.addresses().get(0), "alice", ServerFixture.ALICE);
    source = new CudaClient(nearWire).retain();
    target = new CudaClient(farWire).retain();
  }

  @AfterEach
  void disconnect() throws IOException {
    source.close();
    target.close();
  }

  private static int result(CudaClient client, String name, CudaClient.Parameters parameters)
      throws IOException {
    client.begin(name, parameters);
    return client.wire.answer().result();
  }

  private static CudaClient.Parameters ticket(int link, WireClient to, byte[] secret) {
    byte[] name = "alice".getBytes(StandardCharsets.UTF_8);
    ByteBuffer ticket = WireClient.little(104).putLong(to.sessionId()).put(secret).put(name);
    return with(link).block(WireClient.bytes(ticket, 0, 104));
  }

  private void open() throws IOException {
    assertThat(result(source, "graftPeerOpen", ticket(LINK, farWire, farWire.ticket()))).isZero();
  }

  /** Begins a copy of the bytes, and returns its number. */
  private static long receive(CudaClient client, long address, long bytes) throws IOException {
    return client.call("graftPeerReceive", with(LINK, address, bytes, 1)).getLong(0);
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private void copy(CudaClient from, CudaClient to, byte[] data) throws IOException {
    long at = from.allocate(data.length);
    long there = to.allocate(data.length);
    from.async("graftWrite", with(at, data.length, 0), data);
    long number = receive(to, there, data.length);
    assertThat(result(from, "graftPeerSend", with(LINK, number, at, data.length))).isZero();
    assertThat(result(to, "graftPeerAwait", with(LINK, number))).isZero();
    for (int i = 0; i < data.length; i += data.length - 1000) {
      to.begin("graftRead", with(there + i, 1000, 0));
      assertThat(to.data().bytes().array()).isEqualTo(Arrays.copyOfRange(data, i, i + 1000));
      assertThat(to.wire.answer().result()).isZero();
    }
  }

  /** The far server has no peers: the near one has made the connections. */
  @Test
  void copiesGoOverALinkInBothDirections() throws Exception {
    open();
    copy(source, target, random(LENGTH));
    copy(target, source, random(LENGTH + 1));
    copy(source, target, random(70_000));
  }

  @Test
  void aTicketIsForItsSessionAlone() throws Exception {
    byte[] right = farWire.ticket();
    byte[] wrong = right.clone();
    wrong[0] ^= 1;
    assertThat(result(source, "graftPeerOpen", ticket(1, farWire, wrong)))
        .isEqualTo(CudaResult.NOT_SUPPORTED);
    assertThat(result(source, "graftPeerOpen", ticket(1, nearWire, right)))
        .isEqualTo(CudaResult.NOT_SUPPORTED);
    assertThat(result(source, "graftPeerOpen", ticket(1, farWire, farWire.sessionSecret())))
        .isEqualTo(CudaResult.NOT_SUPPORTED);
    open();
  }

  /** The server connects to the peers that its operator has named, and this one has none. */
  @Test
  void aServerWithoutPeersConnectsToNobody() throws Exception {
    assertThat(result(target, "graftPeerOpen", ticket(1, nearWire, nearWire.ticket())))
        .isEqualTo(CudaResult.NOT_SUPPORTED);
  }

  /** Connects to the far session as a server does. */
  private WireClient hostile(int link, byte[] secret, int status) throws IOException {
    WireClient connection = WireClient.connect(far.addresses().get(0));
    assertThat(farWire.peer(connection, "alice", secret, link).status()).isEqualTo(status);
    return connection;
  }

  private WireClient hostile() throws IOException {
    return hostile(LINK, farWire.ticket(), HandshakeStatus.OK.code());
  }

  @Test
  void aTicketAndASessionsSecretDoNotStandForEachOther() throws Exception {
    hostile(LINK, farWire.sessionSecret(), HandshakeStatus.REFUSED.code()).close();
    assertThatThrownBy(
            () -> farWire.connection(far.addresses().get(0), "alice", farWire.ticket(), 1))
        .hasMessageContaining("refused " + HandshakeStatus.REFUSED.code());
  }

  @Test
  void aSessionHasEightLinksAtMost() throws Exception {
    WireClient[] connections = new WireClient[8];
    for (int i = 0; i < connections.length; i++) {
      connections[i] = hostile(i, farWire.ticket(), HandshakeStatus.OK.code());
    }
    WireClient ninth = WireClient.connect(far.addresses().get(0));
    assertThatThrownBy(() -> farWire.peer(ninth, "alice", farWire.ticket(), 8));
    target.call("cuMemGetInfo_v2", with(1, 1)); // the session goes on
    for (WireClient connection : connections) {
      connection.close();
    }
  }

  private static void chunk(WireClient peer, long copy, long offset, long length, byte[] data)
      throws IOException {
    peer.send(
        WireClient.little(24 + data.length)
            .putLong(copy)
            .putLong(offset)
            .putLong(length)
            .put(data)
            .flip());
  }

  /** The link has ended with the copy, and the session goes on. */
  private void expectEnd(long number) throws IOException {
    assertThat(result(target, "graftPeerAwait", with(LINK, number)))
        .isEqualTo(CudaResult.DEVICE_UNAVAILABLE);
    target.call("cuMemGetInfo_v2", with(1, 1));
    long address = target.allocate(4096);
    assertThat(result(target, "graftPeerReceive", with(LINK, address, 4096, 1)))
        .isEqualTo(CudaResult.NOT_PERMITTED);
  }

  @Test
  void dataOutsideOfTheCopyEndsTheLink() throws Exception {
    long address = target.allocate(LENGTH);
    try (WireClient peer = hostile()) {
      long number = receive(target, address, 4096);
      chunk(peer, number, 4096, 1, new byte[1]);
      expectEnd(number);
    }
  }

  @Test
  void dataOfNoCopyEndsTheLink() throws Exception {
    long address = target.allocate(LENGTH);
    try (WireClient peer = hostile()) {
      long number = receive(target, address, 4096);
      chunk(peer, 0, 0, 4096, new byte[4096]);
      expectEnd(number);
    }
  }

  @Test
  void aPeerThatDisappearsInACopyEndsTheLink() throws Exception {
    long address = target.allocate(LENGTH);
    WireClient peer = hostile();
    long number = receive(target, address, LENGTH);
    chunk(peer, number, 0, LENGTH, new byte[100_000]);
    peer.close();
    expectEnd(number);
  }

  /** The session's other calls do not wait for the peer, and its client can end the copy. */
  @Test
  void aPeerThatSendsNothingDelaysItsCopyAlone() throws Exception {
    long address = target.allocate(LENGTH);
    try (WireClient peer = hostile()) {
      long number = receive(target, address, LENGTH);
      int waiting = target.begin("graftPeerAwait", with(LINK, number));
      target.call("cuMemGetInfo_v2", with(1, 1));
      target.async("graftPeerClose", with(LINK));
      WireClient.Answer answer = target.wire.answer();
      assertThat(answer.slot()).isEqualTo(waiting);
      assertThat(answer.result()).isEqualTo(CudaResult.DEVICE_UNAVAILABLE);
      assertThatThrownBy(() -> peer.receive(1)); // the link is closed
    }
  }

  @Test
  void aPeerThatReadsNothingDelaysItsCopyAlone() throws Exception {
    int large = 64 << 20;
    long address = target.allocate(large);
    try (WireClient peer = hostile()) {
      int sending = target.begin("graftPeerSend", with(LINK, 1, address, large));
      peer.receive(24); // a header, and then no more
      target.call("cuMemGetInfo_v2", with(1, 1));
      target.async("graftPeerClose", with(LINK));
      assertThat(target.wire.answer().slot()).isEqualTo(sending);
      target.call("cuMemGetInfo_v2", with(1, 1));
    }
  }

  /** A peer that was welcomed may tell its client at once to have this end send. */
  @Test
  void aLinkHasItsConnectionWhenThePeerIsWelcome() throws Exception {
    long address = target.allocate(4096);
    for (int link = 0; link < 8; link++) {
      try (WireClient peer = hostile(link, farWire.ticket(), HandshakeStatus.OK.code())) {
        assertThat(result(target, "graftPeerSend", with(link, 1, address, 4096))).isZero();
        peer.receive(24 + 4096);
      }
    }
  }

  @Test
  void eachEndChecksItsOwnMemory() throws Exception {
    open();
    long address = target.allocate(4096);
    assertThat(result(target, "graftPeerReceive", with(LINK, address, 1 << 30, 1)))
        .isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(result(target, "graftPeerReceive", with(LINK, address, -1, 1))).isNotZero();
    long here = source.allocate(4096);
    assertThat(result(source, "graftPeerSend", with(LINK, 1, here, 1 << 30)))
        .isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(result(source, "graftPeerSend", with(LINK, 1, 4711, 16)))
        .isEqualTo(CudaResult.INVALID_VALUE);
  }
}
