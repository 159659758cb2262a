package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.CudaResult;
import graft.remoting.server.protocol.HandshakeMessages;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Data that a guest's earlier session has sent: a later one names it by its hash. No client learns
 * of another guest's data, and none breaks anything by what it claims.
 */
@Timeout(120)
class KnownDataTest {
  private static final int HINT = 16;
  private static final int HINTS = 480 * HINT;
  private static final long READ = Long.MIN_VALUE | 1;
  private static final int KIB = 1 << 10;

  /** The data that one name may have kept, half of the server's. */
  private static final int SHARE = 8 << 20;

  @TempDir static Path folder;
  private static ServerFixture fixture;
  private static int seed;

  private byte[] data;

  @BeforeAll
  static void start() throws Exception {
    fixture =
        ServerFixture.start(folder, "software", config -> config.spares(2).keptData(2 * SHARE));
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  @BeforeEach
  void makeData() {
    data = random(100 * KIB);
  }

  private static byte[] random(int bytes) {
    byte[] made = new byte[bytes];
    new Random(++seed).nextBytes(made);
    return made;
  }

  private static byte[] hash(byte[] data) throws Exception {
    return MessageDigest.getInstance("SHA-256").digest(data);
  }

  private static CudaClient alice() throws IOException {
    return alice(fixture);
  }

  private static CudaClient alice(ServerFixture server) throws IOException {
    return new CudaClient(server.alice()).retain();
  }

  private static CudaClient bob(ServerFixture server) throws IOException {
    return new CudaClient(server.bob()).retain();
  }

  /** What the server says that it has; from now on, it keeps what the session sends. */
  private static List<byte[]> known(CudaClient client) throws IOException {
    client.async("graftKnownData", with(HINTS, READ));
    CudaClient.Data answer = client.data();
    assertThat(answer.read()).isEqualTo(READ);
    byte[] bytes = answer.bytes().array();
    assertThat(bytes).hasSize(HINTS);
    List<byte[]> hints = new ArrayList<>();
    for (int at = 0; at < HINTS; at += HINT) {
      byte[] hint = Arrays.copyOfRange(bytes, at, at + HINT);
      if (!Arrays.equals(hint, new byte[HINT])) {
        hints.add(hint);
      }
    }
    return hints;
  }

  private static boolean knows(CudaClient client, byte[] data) throws Exception {
    byte[] hint = Arrays.copyOf(hash(data), HINT);
    return known(client).stream().anyMatch(each -> Arrays.equals(each, hint));
  }

  /** Data is hashed in the background. */
  private static void awaitKept(CudaClient client, byte[] data) throws Exception {
    while (!knows(client, data)) {
      Thread.onSpinWait(); // ended by the test's own time limit
    }
  }

  private static void write(CudaClient client, long to, byte[] data) throws IOException {
    client.async("graftWrite", with(to, data.length, 0), data);
  }

  private static CudaClient.Parameters known(long to, byte[] hash, long bytes) {
    return with(to).block(hash).put(bytes).put(0);
  }

  /** Reads in parts that are too small for data connections. */
  private static byte[] read(CudaClient client, long from, int bytes) throws IOException {
    byte[] all = new byte[bytes];
    for (int done = 0; done < bytes; ) {
      client.begin("graftRead", with(from + done, Math.min(bytes - done, 256 * KIB), 0));
      byte[] part = client.data().bytes().array();
      assertThat(client.wire.answer().result()).isZero();
      System.arraycopy(part, 0, all, done, part.length);
      done += part.length;
    }
    return all;
  }

  /** Has a session of alice send the data, and ends the session. */
  private static void keep(byte[] data) throws Exception {
    keep(fixture, data);
  }

  private static void keep(ServerFixture server, byte[] data) throws Exception {
    try (CudaClient first = alice(server)) {
      known(first);
      write(first, first.allocate(data.length), data);
      awaitKept(first, data);
    }
  }

  @Test
  void whatASessionHasSentTheNextOfItsNameNeedNotSend() throws Exception {
    keep(data);
    try (CudaClient next = alice()) {
      long memory = next.allocate(data.length);
      assertThat(knows(next, data)).isTrue();
      next.async("graftWriteKnown", known(memory, hash(data), data.length));
      assertThat(read(next, memory, data.length)).isEqualTo(data);
    }
  }

  @Test
  void dataOnDataConnectionsIsKeptToo() throws Exception {
    byte[] large = random(3 << 20);
    try (CudaClient first = alice();
        WireClient one =
            first.wire.connection(fixture.address(), "alice", HandshakeMessages.CONNECTION_DATA);
        WireClient other =
            first.wire.connection(fixture.address(), "alice", HandshakeMessages.CONNECTION_DATA)) {
      long memory = first.allocate(large.length);
      known(first);
      first.onDataConnections("graftWrite", with(memory, large.length, 0));
      chunk(one, large, 2 << 20, large.length);
      chunk(other, large, 0, 1 << 20);
      chunk(one, large, 1 << 20, 2 << 20);
      assertThat(read(first, memory, large.length)).isEqualTo(large);
      awaitKept(first, large);
    }
    try (CudaClient next = alice()) {
      long memory = next.allocate(large.length);
      next.call("graftWriteKnown", known(memory, hash(large), large.length));
      assertThat(read(next, memory, large.length)).isEqualTo(large);
    }
  }

  private static void chunk(WireClient to, byte[] data, int from, int end) throws IOException {
    to.send(
        WireClient.little(24 + end - from)
            .putLong(1)
            .putLong(from)
            .putLong(end - from)
            .put(data, from, end - from)
            .flip());
  }

  @Test
  void copiesTakeEffectInTheirOrder() throws Exception {
    keep(data);
    try (CudaClient next = alice()) {
      long memory = next.allocate(data.length);
      byte[] before = random(data.length);
      byte[] after = random(70 * KIB);
      known(next);
      for (int round = 0; round < 20; round++) {
        write(next, memory, before);
        next.async("graftWriteKnown", known(memory, hash(data), data.length));
        write(next, memory, after);
        byte[] expected = data.clone();
        System.arraycopy(after, 0, expected, 0, after.length);
        assertThat(read(next, memory, data.length)).isEqualTo(expected);
      }
    }
  }

  @Test
  void anotherGuestLearnsNothingOfIt() throws Exception {
    keep(data);
    try (CudaClient bob = bob(fixture)) {
      long memory = bob.allocate(data.length);
      write(bob, memory, new byte[data.length]);
      assertThat(knows(bob, data)).isFalse();
      assertRefused(bob, known(memory, hash(data), data.length));
      assertThat(read(bob, memory, data.length)).containsOnly(0);
    }
  }

  private static void assertRefused(CudaClient client, CudaClient.Parameters wrong) {
    assertThatThrownBy(() -> client.call("graftWriteKnown", wrong))
        .isInstanceOfSatisfying(
            CudaClient.CudaError.class,
            e -> assertThat(e.result).isEqualTo(CudaResult.INVALID_VALUE));
  }

  @Test
  void whatAClientClaimsIsChecked() throws Exception {
    keep(data);
    byte[] hash = hash(data);
    byte[] almost = hash.clone();
    almost[31] ^= 1;
    try (CudaClient client = alice()) {
      long memory = client.allocate(data.length);
      byte[] before = random(data.length);
      write(client, memory, before);
      assertThat(knows(client, data)).isTrue();
      assertRefused(client, known(memory, almost, data.length));
      assertRefused(client, known(memory, new byte[32], data.length));
      assertRefused(client, known(memory, new byte[0], data.length));
      for (long bytes : new long[] {0, 1, data.length - 1, data.length + 1, -1, Long.MIN_VALUE}) {
        assertRefused(client, known(memory, hash, bytes));
      }
      for (long to : new long[] {0, memory + 1, memory - 1, -data.length, 1L << 40}) {
        assertRefused(client, known(to, hash, data.length));
      }
      assertThat(read(client, memory, data.length)).isEqualTo(before);
      client.call("graftWriteKnown", known(memory, hash, data.length));
      assertThat(read(client, memory, data.length)).isEqualTo(data);
    }
  }

  /** The error of a copy that no call waits for is not lost. */
  @Test
  void theNextCallThatWaitsTellsThatDataIsNotThere() throws Exception {
    try (CudaClient client = alice()) {
      long memory = client.allocate(data.length);
      client.async("graftWriteKnown", known(memory, hash(data), data.length));
      assertThatThrownBy(() -> client.call("graftContextSynchronize", with()))
          .isInstanceOf(CudaClient.CudaError.class);
      client.call("graftContextSynchronize", with());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {64 * KIB - 1, (16 << 20) + 1})
  void dataOfOtherSizesIsNotKept(int bytes) throws Exception {
    byte[] other = random(bytes);
    try (CudaClient client = alice()) {
      known(client);
      write(client, client.allocate(bytes), other);
      long memory = client.allocate(data.length);
      write(client, memory, data);
      awaitKept(client, data); // it was sent later
      assertThat(knows(client, other)).isFalse();
    }
  }

  @Test
  void nothingIsKeptForAClientThatDoesNotAsk() throws Exception {
    byte[] later = random(data.length);
    try (CudaClient client = alice()) {
      long memory = client.allocate(data.length);
      write(client, memory, data);
      known(client);
      write(client, memory, later);
      awaitKept(client, later);
      assertThat(knows(client, data)).isFalse();
    }
  }

  /** A guest that sends ever new data fills its own share alone, and loses nothing it was told. */
  @Test
  void endlessDataFillsNoMoreThanTheGuestsShare(@TempDir Path own) throws Exception {
    try (ServerFixture server =
        ServerFixture.start(own, "software", config -> config.keptData(2 * SHARE))) {
      fillTheShare(server);
    }
  }

  private void fillTheShare(ServerFixture server) throws Exception {
    keep(server, data);
    byte[] small = random(64 * KIB);
    try (CudaClient bob = bob(server)) {
      known(bob);
      write(bob, bob.allocate(small.length), small);
      awaitKept(bob, small);
    }
    try (CudaClient client = alice(server)) {
      int bytes = 1 << 20;
      long memory = client.allocate(bytes);
      assertThat(knows(client, data)).isTrue();
      for (int i = 0; i < 40; i++) {
        byte[] other = random(bytes);
        write(client, memory, other);
        assertThat(read(client, memory, bytes)).isEqualTo(other);
      }
      assertThat(known(client).size() * 64L * KIB).isPositive().isLessThanOrEqualTo(SHARE);
      client.call("graftWriteKnown", known(memory, hash(data), data.length));
      assertThat(read(client, memory, data.length)).isEqualTo(data);
    }
    try (CudaClient bob = bob(server)) {
      assertThat(knows(bob, small)).isTrue();
    }
  }

  @Test
  void impossibleQuestionsAreRefused() throws Exception {
    try (CudaClient client = alice()) {
      for (long bytes : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, (64 << 10) + 1}) {
        assertThatThrownBy(() -> client.call("graftKnownData", with(bytes, READ)))
            .isInstanceOf(CudaClient.CudaError.class);
      }
      client.call("graftContextSynchronize", with());
    }
  }
}
