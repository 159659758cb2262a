package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bulk data on data connections, against a real server and worker with a fake driver. */
@Timeout(120)
class DataConnectionsTest {
  private static final int CHUNK = 1 << 20;
  private static final int LENGTH = 3 * CHUNK + 12345;

  @TempDir static Path folder;
  private static GraftServer server;

  private CudaClient cuda;
  private WireClient first;
  private WireClient second;

  @BeforeAll
  static void start() throws Exception {
    server =
        GraftServer.start(
            ServerConfig.builder(ServerFixture.tokens(folder), DeviceSpec.parse("fake"))
                .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
                .metrics(ListenAddress.parse("tcp://127.0.0.1:0"))
                .spares(2)
                .build());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() throws IOException {
    ListenAddress address = server.addresses().get(0);
    WireClient session = WireClient.session(address, "alice", ServerFixture.ALICE);
    cuda = new CudaClient(session).retain();
    first = session.connection(address, "alice", HandshakeMessages.CONNECTION_DATA);
    second = session.connection(address, "alice", HandshakeMessages.CONNECTION_DATA);
  }

  @AfterEach
  void disconnect() throws IOException {
    cuda.close();
    first.close();
    second.close();
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static void chunk(WireClient connection, long transfer, long offset, byte[] data)
      throws IOException {
    connection.send(
        WireClient.little(24 + data.length)
            .putLong(transfer)
            .putLong(offset)
            .putLong(data.length)
            .put(data)
            .flip());
  }

  private static byte[] part(byte[] data, int from) {
    return Arrays.copyOfRange(data, from, Math.min(data.length, from + CHUNK));
  }

  /** Receives chunks of a read until all connections together have received that many bytes. */
  private static void take(
      WireClient connection, long read, byte[] to, AtomicInteger got, int bytes)
      throws IOException {
    while (got.get() < bytes) {
      ByteBuffer header = connection.receive(24);
      assertThat(header.getLong(0)).isEqualTo(read);
      int length = (int) header.getLong(16);
      connection.receive(length).get(0, to, (int) header.getLong(8), length);
      got.addAndGet(length);
    }
  }

  @Test
  void chunksOfAWriteMayComeOnAnyConnectionInAnyOrderAndBeforeTheirRecord() throws Exception {
    byte[] data = random(LENGTH);
    long address = cuda.allocate(LENGTH);
    chunk(second, 1, 2 * CHUNK, part(data, 2 * CHUNK));
    chunk(second, 1, 0, part(data, 0));
    cuda.onDataConnections("graftWrite", with(address, LENGTH, 0));
    chunk(first, 1, 3 * CHUNK, part(data, 3 * CHUNK));
    chunk(first, 1, CHUNK, part(data, CHUNK));
    cuda.call("cuStreamSynchronize", with(0));
    int slot = cuda.begin("graftRead", with(address, 1000, 0));
    CudaClient.Data small = cuda.data();
    assertThat(small.read()).isEqualTo(slot);
    assertThat(small.bytes().array()).isEqualTo(Arrays.copyOf(data, 1000));
    assertThat(cuda.wire.answer().result()).isZero();
  }

  private static byte[] longs(long... values) {
    ByteBuffer bytes = WireClient.little(8 * values.length);
    Arrays.stream(values).forEach(bytes::putLong);
    return WireClient.bytes(bytes, 0, bytes.position());
  }

  /** Queues a kernel on a stream of its own that runs until the number at the address is not 0. */
  private long block(int stream) throws IOException {
    cuda.function(1, "block");
    cuda.async("cuStreamCreate", with(stream, 1));
    long flag = cuda.allocate(8);
    cuda.async("graftWrite", with(flag, 8, 0), new byte[8]);
    cuda.call("cuStreamSynchronize", with(0));
    cuda.launch(1, stream, longs(flag));
    return flag;
  }

  private void release(long flag) throws IOException {
    cuda.async("graftWrite", with(flag, 4, 0), new byte[] {1, 0, 0, 0});
  }

  /** Each buffer is used several times, while the connections' threads wait for its copy. */
  @Test
  void aWriteMayHaveMoreChunksThanThereAreBuffers() throws Exception {
    int length = 40 * CHUNK;
    byte[] data = random(length);
    long address = cuda.allocate(length);
    long flag = block(7); // so that the data is not received directly into its destination
    cuda.onDataConnections("graftWrite", with(address, length, 0));
    Thread half =
        new Thread(
            () -> {
              try {
                for (int at = 0; at < length; at += 2 * CHUNK) {
                  chunk(second, 1, at, part(data, at));
                }
              } catch (IOException e) {
                // The session's end.
              }
            });
    half.start();
    for (int at = CHUNK; at < length; at += 2 * CHUNK) {
      chunk(first, 1, at, part(data, at));
    }
    half.join();
    cuda.call("cuStreamSynchronize", with(0));
    release(flag);
    for (int at = 0; at < length; at += CHUNK) {
      cuda.begin("graftRead", with(address + at, 1000, 0));
      assertThat(cuda.data().bytes().array()).isEqualTo(Arrays.copyOfRange(data, at, at + 1000));
      assertThat(cuda.wire.answer().result()).isZero();
    }
  }

  /** Data must not reach memory that an earlier kernel on its stream has yet to use. */
  @Test
  void aWriteComesAfterTheKernelsBeforeItOnItsStream() throws Exception {
    byte[] data = random(LENGTH);
    long address = cuda.allocate(LENGTH);
    long flag = block(7);
    cuda.function(2, "store");
    for (int at = 0; at < LENGTH; at += CHUNK) {
      cuda.launch(2, 7, longs(address + at, 4711));
    }
    cuda.onDataConnections("graftWrite", with(address, LENGTH, 7));
    chunk(first, 1, 0, Arrays.copyOf(data, 2 * CHUNK + 1));
    chunk(second, 1, 2 * CHUNK + 1, Arrays.copyOfRange(data, 2 * CHUNK + 1, LENGTH));
    cuda.call("cuMemGetInfo_v2", with(1, 1)); // all of it has been received
    release(flag);
    cuda.call("cuStreamSynchronize", with(7));
    for (int at = 0; at < LENGTH; at += CHUNK) {
      cuda.begin("graftRead", with(address + at, 1000, 0));
      assertThat(cuda.data().bytes().array()).isEqualTo(Arrays.copyOfRange(data, at, at + 1000));
      assertThat(cuda.wire.answer().result()).isZero();
    }
  }

  /** The data of a later transfer may arrive first. */
  @Test
  void writesThroughBuffersTakeEffectInTheirOrder() throws Exception {
    long address = cuda.allocate(CHUNK);
    long other = cuda.allocate(CHUNK);
    long flag = block(7); // so that the data is not received directly into its destination
    byte[] data = random(CHUNK);
    for (long to : new long[] {address, other, address}) {
      cuda.onDataConnections("graftWrite", with(to, CHUNK, 0));
    }
    chunk(second, 3, 0, data);
    chunk(first, 1, 0, new byte[CHUNK]);
    chunk(first, 2, 0, new byte[CHUNK]);
    cuda.call("cuStreamSynchronize", with(0));
    release(flag);
    cuda.begin("graftRead", with(address, 1000, 0));
    assertThat(cuda.data().bytes().array()).isEqualTo(Arrays.copyOf(data, 1000));
    assertThat(cuda.wire.answer().result()).isZero();
  }

  /**
   * The data of a later transfer may arrive first. It waits, chunk by chunk, for the earlier
   * transfer.
   */
  @Test
  void writesStraightToMemoryThatOverlapTakeEffectInTheirOrder() throws Exception {
    long address = cuda.allocate(3 * CHUNK);
    cuda.onDataConnections("graftWrite", with(address, 2 * CHUNK, 0));
    cuda.onDataConnections("graftWrite", with(address + CHUNK + 7, 2 * CHUNK - 7, 0));
    byte[] data = random(2 * CHUNK - 7);
    Thread later =
        new Thread(
            () -> {
              try {
                chunk(second, 2, 0, data);
              } catch (IOException e) {
                // The session's end.
              }
            });
    later.start();
    later.join(100); // its data has reached the server, or waits for it
    chunk(first, 1, CHUNK, new byte[CHUNK]);
    chunk(first, 1, 0, new byte[CHUNK]);
    later.join();
    cuda.call("cuStreamSynchronize", with(0));
    cuda.begin("graftRead", with(address + CHUNK, 1000, 0));
    byte[] both = new byte[1000];
    System.arraycopy(data, 0, both, 7, 993);
    assertThat(cuda.data().bytes().array()).isEqualTo(both);
    assertThat(cuda.wire.answer().result()).isZero();
  }

  @Test
  void writesThatAreBegunTogetherEndInTheirOrderAndBeforeWhatFollows() throws Exception {
    long address = cuda.allocate(LENGTH);
    cuda.function(1, "store");
    for (int write = 0; write < 100; write++) { // more transfers than may have begun at once
      cuda.onDataConnections("graftWrite", with(address, CHUNK, 0));
    }
    cuda.launch(1, 0, longs(address, 4711));
    byte[] data = new byte[CHUNK];
    for (int write = 100; write > 0; write--) {
      Arrays.fill(data, (byte) write);
      chunk(write % 2 == 0 ? first : second, 101 - write, 0, data);
    }
    cuda.call("cuStreamSynchronize", with(0));
    cuda.begin("graftRead", with(address, 1000, 0));
    byte[] last = Arrays.copyOf(data, 1000);
    System.arraycopy(longs(4711), 0, last, 0, 4);
    assertThat(cuda.data().bytes().array()).isEqualTo(last);
    assertThat(cuda.wire.answer().result()).isZero();
  }

  @Test
  void theConnectionsShareAReadAndItsReplyComesAfterItsAnnouncements() throws Exception {
    readOnDataConnections();
  }

  @Test
  void soTheyDoWhileAKernelRuns() throws Exception {
    block(7);
    readOnDataConnections();
  }

  private void readOnDataConnections() throws Exception {
    byte[] data = random(LENGTH);
    long address = cuda.allocate(LENGTH);
    cuda.async("graftWrite", with(address, LENGTH, 0), data);
    int slot = cuda.begin("graftRead", with(address, LENGTH, 0));
    byte[] got = new byte[LENGTH];
    AtomicInteger bytes = new AtomicInteger();
    Thread[] takers = new Thread[2];
    for (int connection = 0; connection < 2; connection++) {
      WireClient from = connection == 0 ? first : second;
      takers[connection] =
          new Thread(
              () -> {
                try {
                  take(from, slot, got, bytes, LENGTH);
                } catch (IOException e) {
                  // The session's end.
                }
              });
      takers[connection].start();
    }
    long announced = 0;
    WireClient.Answer answer;
    while ((answer = cuda.wire.answer()).kind() == 4) {
      announced +=
          ByteBuffer.wrap(answer.payload().array())
              .order(java.nio.ByteOrder.LITTLE_ENDIAN)
              .getLong(16);
    }
    assertThat(announced).isEqualTo(LENGTH);
    assertThat(answer).returns(slot, WireClient.Answer::slot).returns(0, WireClient.Answer::result);
    // The reply may come before the data; the session has to live until the data has arrived.
    while (bytes.get() < LENGTH && Stream.of(takers).anyMatch(Thread::isAlive)) {
      Thread.onSpinWait();
    }
    cuda.close();
    for (Thread taker : takers) {
      taker.join();
    }
    assertThat(Arrays.equals(got, data)).isTrue();
  }

  @Test
  void theImageOfAModuleMayComeOnDataConnections() throws Exception {
    byte[] image =
        Arrays.copyOf(
            "good image\0".getBytes(java.nio.charset.StandardCharsets.US_ASCII), 2 * CHUNK);
    cuda.onDataConnections("graftModuleLoad", with(1, image.length, 0, 0, 0, 0, 0));
    chunk(first, 1, CHUNK, part(image, CHUNK));
    chunk(second, 1, 0, part(image, 0));
    cuda.call("graftModuleGetFunction", with(1, 1).text("store").put(0).put(0).put(0));
  }

  @Test
  void aChunkThatBelongsToNoTransferEndsTheSession() throws Exception {
    for (long[] wrong :
        new long[][] {
          {1, LENGTH - 10, 11}, // beyond the end
          {1, -8, 16},
          {1, 0, 0},
          {1, 0, LENGTH + 1},
          {1, 0, Long.MAX_VALUE},
          {1, Long.MAX_VALUE, 8},
          {0, 0, 8}, // of a transfer that is complete
        }) {
      CudaClient other =
          new CudaClient(
                  WireClient.session(server.addresses().get(0), "alice", ServerFixture.ALICE))
              .retain();
      long theirs = other.allocate(LENGTH);
      try (WireClient connection =
          other.wire.connection(
              server.addresses().get(0), "alice", HandshakeMessages.CONNECTION_DATA)) {
        other.onDataConnections("graftWrite", with(theirs, LENGTH, 0));
        connection.send(
            WireClient.little(24).putLong(wrong[0]).putLong(wrong[1]).putLong(wrong[2]).flip());
        assertThatThrownBy(() -> other.call("graftContextSynchronize", with()))
            .as(Arrays.toString(wrong))
            .isInstanceOf(IOException.class)
            .isNotInstanceOf(CudaClient.CudaError.class);
      }
    }
    // Other sessions are not affected.
    assertThat(cuda.call("cuMemGetInfo_v2", with(1, 1)).limit()).isEqualTo(16);
  }

  /** The server's current metrics. */
  private static String metrics() throws IOException {
    ListenAddress.Tcp address = (ListenAddress.Tcp) server.metricsAddress().orElseThrow();
    java.net.URI page = java.net.URI.create("http://127.0.0.1:" + address.port() + "/metrics");
    try (java.io.InputStream in = page.toURL().openStream()) {
      return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }
  }

  @Test
  void aClientThatGoesInMidCopyEndsItsSessionAlone() throws Exception {
    ListenAddress address = server.addresses().get(0);
    CudaClient other =
        new CudaClient(WireClient.session(address, "alice", ServerFixture.ALICE)).retain();
    long theirs = other.allocate(LENGTH);
    assertThat(metrics()).containsPattern("graft_sessions\\{.*} 2\n");
    WireClient connection =
        other.wire.connection(address, "alice", HandshakeMessages.CONNECTION_DATA);
    other.onDataConnections("graftWrite", with(theirs, LENGTH, 0));
    connection.send(WireClient.little(24 + 100).putLong(1).putLong(0).putLong(CHUNK).rewind());
    connection.close();
    other.close();
    while (!metrics().matches("(?s).*graft_sessions\\{[^}]*} 1\n.*")) {
      Thread.onSpinWait(); // ended by the test's own time limit
    }
    assertThat(cuda.call("cuMemGetInfo_v2", with(1, 1)).limit()).isEqualTo(16);
  }

  @Test
  void theTokenAloneOpensNoDataConnectionOfASession() {
    assertThatThrownBy(
            () ->
                cuda.wire.connection(
                    server.addresses().get(0),
                    "alice",
                    ServerFixture.ALICE,
                    HandshakeMessages.CONNECTION_DATA))
        .hasMessageContaining("refused 3");
  }
}
