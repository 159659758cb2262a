package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.CudaResult;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sessions on a fake driver, over a real server, worker and socket. */
@Timeout(120)
class CudaSessionTest {
  @TempDir static Path folder;
  private static GraftServer server;

  private CudaClient cuda;

  @BeforeAll
  static void start() throws Exception {
    ServerConfig config =
        ServerConfig.builder(ServerFixture.tokens(folder), DeviceSpec.parse("fake"))
            .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
            .spares(2)
            .build();
    server = GraftServer.start(config);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static CudaClient connect(String name, byte[] token) throws IOException {
    return new CudaClient(WireClient.session(server.addresses().get(0), name, token));
  }

  @BeforeEach
  void connect() throws IOException {
    cuda = connect("alice", ServerFixture.ALICE).retain();
  }

  @AfterEach
  void disconnect() throws IOException {
    cuda.close();
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private byte[] read(long address, int length) throws IOException {
    byte[] all = new byte[length];
    int slot = cuda.begin("graftRead", with(address, length, 0));
    for (int done = 0; done < length; ) {
      CudaClient.Data data = cuda.data();
      assertThat(data.read()).isEqualTo(slot);
      assertThat(data.offset()).isEqualTo(done);
      byte[] chunk = data.bytes().array();
      System.arraycopy(chunk, 0, all, done, chunk.length);
      done += chunk.length;
    }
    assertThat(cuda.wire.answer())
        .returns(0, WireClient.Answer::kind)
        .returns(0, WireClient.Answer::result);
    return all;
  }

  private static byte[] longs(long... values) {
    ByteBuffer bytes = WireClient.little(8 * values.length);
    for (long value : values) {
      bytes.putLong(value);
    }
    return WireClient.bytes(bytes, 0, bytes.position());
  }

  @Test
  void theSnapshotHasEverythingThatTheClientAnswersItself() throws Exception {
    ByteBuffer s = cuda.call("graftSnapshot", with(0, 1, 4096));
    assertThat(s.getInt(0)).isEqualTo(13000);
    assertThat(s.getInt(4)).isEqualTo(1);
    assertThat(s.getLong(8)).isEqualTo(FakeCuda.TOTAL);
    assertThat(WireClient.bytes(s, 16, 16)).containsOnly(0xAB);
    assertThat(new String(WireClient.bytes(s, 48, 8), StandardCharsets.US_ASCII))
        .isEqualTo("Fake GPU");
    assertThat(s.getInt(304)).isZero();
    assertThat(s.getInt(308)).isEqualTo(-5);
    assertThat(s.getInt(312)).isGreaterThan(100);
    assertThat(s.getInt(320)).isEqualTo(1001);
    assertThat(s.getInt(320 + 4 * 100)).isEqualTo(Integer.MIN_VALUE);
  }

  @Test
  void dataThatIsWrittenIsRead() throws Exception {
    for (int length : new int[] {1, 13, 4096, 300_000, 30_000_001}) {
      byte[] data = random(length);
      long address = cuda.allocate(length);
      cuda.async("graftWrite", with(address, length, 0), data);
      assertThat(read(address, length)).isEqualTo(data);
      cuda.async("cuMemFree_v2", with(address));
    }
  }

  @Test
  void aReadThatNobodyWaitsForArrivesBeforeTheReplyThatSaysSo() throws Exception {
    int length = 15_000_000;
    byte[] data = random(length);
    long address = cuda.allocate(length);
    cuda.async("graftWrite", with(address, length, 0), data);
    cuda.async("graftReadAsync", with(address, length, 0, 1L << 63 | 5));
    int slot = cuda.begin("cuStreamSynchronize", with(0));
    byte[] got = new byte[length];
    for (int done = 0; done < length; ) {
      CudaClient.Data chunk = cuda.data();
      assertThat(chunk.read()).isEqualTo(1L << 63 | 5);
      byte[] bytes = chunk.bytes().array();
      System.arraycopy(bytes, 0, got, (int) chunk.offset(), bytes.length);
      done += bytes.length;
    }
    assertThat(got).isEqualTo(data);
    assertThat(cuda.wire.answer().slot()).isEqualTo(slot);
  }

  /** More data than the server keeps memory for, behind work that ends only with a later call. */
  @Test
  void readsThatNobodyTakesHoldUpNoOther() throws Exception {
    int length = 4 << 20;
    int reads = 24;
    byte[] data = random(length);
    long address = cuda.allocate(length);
    long flag = cuda.allocate(8);
    cuda.async("graftWrite", with(address, length, 0), data);
    cuda.async("graftWrite", with(flag, 8, 0), new byte[8]);
    cuda.call("cuStreamSynchronize", with(0));
    cuda.function(1, "block");
    cuda.async("cuStreamCreate", with(7, 1));
    cuda.launch(1, 7, longs(flag));
    for (int i = 0; i < reads; i++) {
      cuda.async("graftReadAsync", with(address, length, 7, 1L << 63 | i));
    }
    cuda.async("graftWrite", with(flag, 4, 0), new byte[] {1, 0, 0, 0});
    int slot = cuda.begin("cuStreamSynchronize", with(7));
    byte[][] got = new byte[reads][length];
    for (long left = (long) reads * length; left > 0; ) {
      CudaClient.Data chunk = cuda.data();
      byte[] bytes = chunk.bytes().array();
      System.arraycopy(bytes, 0, got[(int) chunk.read()], (int) chunk.offset(), bytes.length);
      left -= bytes.length;
    }
    for (byte[] its : got) {
      assertThat(its).isEqualTo(data);
    }
    assertThat(cuda.wire.answer().slot()).isEqualTo(slot);
  }

  @Test
  void kernelsRunWithTheParametersThatTheClientPacked() throws Exception {
    cuda.function(1, "store");
    long address = cuda.allocate(4);
    cuda.launch(1, 0, longs(address, 4711));
    assertThat(ByteBuffer.wrap(read(address, 4)).order(java.nio.ByteOrder.LITTLE_ENDIAN).getInt())
        .isEqualTo(4711);
  }

  @Test
  void aFunctionComesWithItsLayout() throws Exception {
    cuda.function(1, "store");
    ByteBuffer reply =
        cuda.call("graftModuleGetFunction", with(2, 1).text("store").put(1).put(1).put(4));
    assertThat(reply.getInt(0)).isEqualTo(2);
    assertThat(WireClient.bytes(reply, 8, 16)).isEqualTo(longs(8L << 32, 4L << 32 | 8));
  }

  /**
   * In a program whose first call is a launch, the CUDA runtime queries before it creates a
   * context.
   */
  @Test
  void aKernelHasItsLayoutBeforeThereIsAContext() throws Exception {
    try (CudaClient bare = connect("alice", ServerFixture.ALICE)) {
      byte[] image = "good image\0".getBytes(StandardCharsets.US_ASCII);
      bare.async("graftLibraryLoad", with(1, image.length), image);
      ByteBuffer reply =
          bare.call("graftLibraryGetKernel", with(1, 1).text("store").put(1).put(1).put(4));
      assertThat(reply.getInt(0)).isEqualTo(2);
      assertThat(WireClient.bytes(reply, 8, 16)).isEqualTo(longs(8L << 32, 4L << 32 | 8));
    }
  }

  @Test
  void whoeverWaitsHoldsNobodyElseUp() throws Exception {
    cuda.function(1, "block");
    cuda.async("cuStreamCreate", with(7, 1));
    long flag = cuda.allocate(8);
    cuda.async("graftWrite", with(flag, 4, 0), new byte[4]);
    cuda.call("graftContextSynchronize", with());
    cuda.launch(1, 7, longs(flag));
    int waits = cuda.begin("cuStreamSynchronize", with(7));
    int waitsToo = cuda.begin("graftContextSynchronize", with());
    // The other threads of the client continue.
    long other = cuda.allocate(16);
    assertThat(other).isNotZero();
    assertThatThrownBy(() -> cuda.call("cuStreamQuery", with(7)))
        .isInstanceOf(CudaClient.CudaError.class)
        .hasMessageContaining(String.valueOf(CudaResult.NOT_READY));
    cuda.async("graftWrite", with(flag, 4, 0), new byte[] {1, 0, 0, 0});
    assertThat(new int[] {cuda.wire.answer().slot(), cuda.wire.answer().slot()})
        .containsExactlyInAnyOrder(waits, waitsToo);
  }

  @Test
  void anEventIsWaitedForOnItsOwn() throws Exception {
    cuda.function(1, "block");
    cuda.async("cuStreamCreate", with(7, 1));
    cuda.async("cuEventCreate", with(3, 2));
    long flag = cuda.allocate(8);
    cuda.async("graftWrite", with(flag, 4, 0), new byte[4]);
    cuda.call("graftContextSynchronize", with());
    cuda.async("cuEventRecord", with(3, 7));
    cuda.launch(1, 7, longs(flag));
    cuda.call("cuEventSynchronize", with(3));
    cuda.async("cuEventRecord", with(3, 7));
    int slot = cuda.begin("cuEventSynchronize", with(3));
    cuda.async("graftWrite", with(flag, 4, 0), new byte[] {1, 0, 0, 0});
    assertThat(cuda.wire.answer())
        .returns(slot, WireClient.Answer::slot)
        .returns(0, WireClient.Answer::result);
  }

  @Test
  void hostFunctionsRunAtTheClientAndHoldTheStream() throws Exception {
    cuda.async("cuStreamCreate", with(7, 1));
    cuda.async("graftHostFunction", with(7, 99));
    int slot = cuda.begin("cuStreamSynchronize", with(7));
    WireClient.Answer callback = cuda.wire.answer();
    assertThat(callback.kind()).isEqualTo(2);
    assertThat(callback.payload().array()).isEqualTo(longs(99));
    assertThatThrownBy(() -> cuda.call("cuStreamQuery", with(7)))
        .hasMessageContaining(String.valueOf(CudaResult.NOT_READY));
    cuda.async("graftHostFunctionDone", with(99));
    assertThat(cuda.wire.answer().slot()).isEqualTo(slot);
  }

  @Test
  void dataThatIsReadBeforeAHostFunctionIsThereWhenItRuns() throws Exception {
    int length = 3_000_000;
    byte[] data = random(length);
    cuda.async("cuStreamCreate", with(7, 1));
    long address = cuda.allocate(length);
    cuda.async("graftWrite", with(address, length, 7), data);
    cuda.async("graftReadAsync", with(address, length, 7, 1L << 63 | 5));
    cuda.async("graftHostFunction", with(7, 99));
    byte[] got = new byte[length];
    for (int done = 0; done < length; ) {
      CudaClient.Data chunk = cuda.data();
      byte[] bytes = chunk.bytes().array();
      System.arraycopy(bytes, 0, got, (int) chunk.offset(), bytes.length);
      done += bytes.length;
    }
    assertThat(got).isEqualTo(data);
    assertThat(cuda.wire.answer().kind()).isEqualTo(2);
    cuda.async("graftHostFunctionDone", with(99));
    cuda.call("cuStreamSynchronize", with(7));
  }

  /**
   * A host function needs this: the stream of records may stand still until the function has run.
   */
  @Test
  void shadowMappingsAreReadAndWrittenWhileACallWaitsForTheGpu() throws Exception {
    long flag = 0x300000000000L;
    cuda.call("graftTwinMap", with(flag, 4096));
    cuda.function(1, "block");
    cuda.async("cuStreamCreate", with(7, 1));
    cuda.launch(1, 7, longs(flag));
    int unload = cuda.begin("cuModuleUnload", with(1));
    try (WireClient mappings =
        cuda.wire.connection(
            server.addresses().get(0), "alice", HandshakeMessages.CONNECTION_MAPPINGS)) {
      mappings.record(1, 0, 0, longs(flag, 8));
      mappings.send(ByteBuffer.wrap(longs(77)));
      assertThat(mappings.answer().result()).isZero();
      assertThat(cuda.wire.answer().slot()).isEqualTo(unload);
      mappings.record(0, 0, 0, longs(flag, 8));
      assertThat(mappings.answer().result()).isZero();
      assertThat(mappings.receive(8).getLong(0)).isEqualTo(77);
    }
  }

  @Test
  void ofWhatIsMergedOnlyTheMarkedBytesAreWritten() throws Exception {
    long address = 0x300000000000L;
    cuda.call("graftTwinMap", with(address, 4096));
    try (WireClient mappings =
        cuda.wire.connection(
            server.addresses().get(0), "alice", HandshakeMessages.CONNECTION_MAPPINGS)) {
      mappings.record(1, 0, 0, longs(address, 24));
      mappings.send(ByteBuffer.wrap(longs(0x1111111111111111L, 0x2222222222222222L, 0x33)));
      assertThat(mappings.answer().result()).isZero();
      mappings.record(2, 0, 0, longs(address, 24));
      mappings.send(ByteBuffer.wrap(longs(0xaaaaaaaaaaaaaaaaL, 0xbbbbbbbbbbbbbbbbL, 0xcc)));
      mappings.send(ByteBuffer.wrap(new byte[] {(byte) 0x81, (byte) 0xff, 0}));
      assertThat(mappings.answer().result()).isZero();
      mappings.record(0, 0, 0, longs(address, 24));
      assertThat(mappings.answer().result()).isZero();
      ByteBuffer all = mappings.receive(24);
      assertThat(all.getLong(0)).isEqualTo(0xaa111111111111aaL);
      assertThat(all.getLong(8)).isEqualTo(0xbbbbbbbbbbbbbbbbL);
      assertThat(all.getLong(16)).isEqualTo(0x33);
    }
  }

  @Test
  void memoryOutsideOfShadowMappingsIsNeitherReadNorWritten() throws Exception {
    long address = 0x300000000000L;
    cuda.call("graftTwinMap", with(address, 4096));
    byte[][] wrong = {
      longs(address - 8, 16),
      longs(address + 4090, 16),
      longs(address + 4096, 8),
      longs(address, -8),
      longs(address, 2 << 20),
      longs(-8, 8),
      longs(-8, 16),
      longs(address)
    };
    for (byte[] record : wrong) {
      for (int function : new int[] {0, 1, 2, 3, -1}) {
        try (WireClient mappings =
            cuda.wire.connection(
                server.addresses().get(0), "alice", HandshakeMessages.CONNECTION_MAPPINGS)) {
          mappings.record(function, 0, 0, record);
          mappings.send(ByteBuffer.wrap(new byte[18]));
          assertThatThrownBy(() -> mappings.answer()).isInstanceOf(IOException.class);
        }
      }
    }
    cuda.call("graftContextSynchronize", with());
  }

  @Test
  void theErrorOfACallThatNobodyWaitsForComesWithTheNextReply() throws Exception {
    cuda.async("cuStreamDestroy_v2", with(1234));
    assertThatThrownBy(() -> cuda.call("graftContextSynchronize", with()))
        .hasMessageContaining(String.valueOf(CudaResult.INVALID_HANDLE));
    cuda.call("graftContextSynchronize", with());
  }

  @Test
  void hostileIdsAreErrorsOfTheCall() throws Exception {
    for (long id : new long[] {1, -1, 1L << 31, 1L << 32, Long.MIN_VALUE, 0xFFFFFFFFL}) {
      assertThatThrownBy(() -> cuda.call("cuStreamQuery", with(id)))
          .as("stream %x", id)
          .isInstanceOf(CudaClient.CudaError.class);
      cuda.async("cuStreamCreate", with(id, 0));
    }
    cuda.async("cuStreamCreate", with(0, 0));
    // An id that is in use is not assigned to another stream.
    cuda.async("cuStreamCreate", with(1, 0));
    assertThatThrownBy(() -> cuda.call("graftContextSynchronize", with()))
        .hasMessageContaining(String.valueOf(CudaResult.INVALID_HANDLE));
    cuda.call("cuStreamQuery", with(1));
  }

  @Test
  void bulkDataBehindARefusedCallIsDropped() throws Exception {
    cuda.async("graftWrite", with(0, 1000, 555), random(1000));
    assertThatThrownBy(() -> cuda.call("graftContextSynchronize", with()))
        .hasMessageContaining(String.valueOf(CudaResult.INVALID_HANDLE));
    cuda.context(77);
    cuda.async("graftWrite", with(0, 1000, 0), random(1000));
    cuda.context(1);
    assertThatThrownBy(() -> cuda.call("graftContextSynchronize", with()))
        .hasMessageContaining(String.valueOf(CudaResult.INVALID_CONTEXT));
    byte[] bad = "bad image".getBytes(StandardCharsets.US_ASCII);
    assertThatThrownBy(() -> cuda.call("graftModuleLoad", with(1, bad.length, 0, 0, 0, 0, 0), bad))
        .hasMessageContaining(String.valueOf(CudaResult.INVALID_IMAGE));
    cuda.call("graftContextSynchronize", with());
  }

  @Test
  void requestsThatAreNotWhatTheFunctionTakesEndTheSession() throws Exception {
    byte[][] wrong = {
      with().done(), // too short
      with(1, 2, 3, 4, 5, 6).done(), // too long
    };
    for (byte[] body : wrong) {
      try (CudaClient bad = connect("alice", ServerFixture.ALICE).retain()) {
        bad.wire.record(Dispatcher.number("graftWrite"), 1, 1, body);
        assertThatThrownBy(() -> bad.wire.answer()).isInstanceOf(java.io.EOFException.class);
      }
    }
    try (CudaClient bad = connect("alice", ServerFixture.ALICE).retain()) {
      byte[] notAnnounced = with(bad.allocate(1 << 20), 1 << 20, 0).done();
      bad.wire.record(Dispatcher.number("graftWrite"), 1, 1, notAnnounced);
      assertThatThrownBy(() -> bad.wire.answer()).isInstanceOf(java.io.EOFException.class);
    }
    try (CudaClient bad = connect("alice", ServerFixture.ALICE)) {
      bad.wire.record(60_000, 1, 1, new byte[0]);
      assertThatThrownBy(() -> bad.wire.answer()).isInstanceOf(java.io.EOFException.class);
    }
    try (CudaClient bad = connect("alice", ServerFixture.ALICE)) {
      // A reply larger than the limit.
      bad.wire.record(Dispatcher.number("graftSnapshot"), 1, 1, with(0, 1, -1).done());
      assertThatThrownBy(() -> bad.wire.answer()).isInstanceOf(java.io.EOFException.class);
    }
  }

  @Test
  void memoryOverTheLimitIsRefusedAndTheLimitIsShown() throws Exception {
    try (CudaClient bob = connect("bob", ServerFixture.BOB).retain()) {
      assertThat(bob.call("graftSnapshot", with(0, 1, 4096)).getLong(8)).isEqualTo(1 << 20);
      long first = bob.allocate(800_000);
      assertThatThrownBy(() -> bob.allocate(800_000))
          .hasMessageContaining(String.valueOf(CudaResult.OUT_OF_MEMORY));
      assertThatThrownBy(() -> bob.allocate(-1))
          .hasMessageContaining(String.valueOf(CudaResult.OUT_OF_MEMORY));
      ByteBuffer info = bob.call("cuMemGetInfo_v2", with(1, 1));
      assertThat(info.getLong(0)).isEqualTo((1 << 20) - 800_000);
      assertThat(info.getLong(8)).isEqualTo(1 << 20);
      bob.async("cuMemFree_v2", with(first));
      assertThat(bob.allocate(1_000_000)).isNotZero();
    }
  }

  /** A client that lies about its managed memory gets no more memory by it. */
  @Test
  void managedMemoryCountsAndIsNeverLessThanNothing() throws Exception {
    String refused = String.valueOf(CudaResult.INVALID_VALUE);
    try (CudaClient bob = connect("bob", ServerFixture.BOB).retain()) {
      bob.call("graftManagedCount", with(600_000, 0));
      assertThat(bob.call("cuMemGetInfo_v2", with(1, 1)).getLong(0)).isEqualTo((1 << 20) - 600_000);
      assertThatThrownBy(() -> bob.allocate(600_000))
          .hasMessageContaining(String.valueOf(CudaResult.OUT_OF_MEMORY));
      for (long more : new long[] {600_001, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
        assertThatThrownBy(() -> bob.call("graftManagedCount", with(more, 1)))
            .hasMessageContaining(refused);
      }
      for (long bytes : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE}) {
        assertThatThrownBy(() -> bob.call("graftManagedCount", with(bytes, 0)))
            .hasMessageContaining(refused);
      }
      bob.call("graftManagedCount", with(600_000, 1));
      assertThat(bob.call("cuMemGetInfo_v2", with(1, 1)).getLong(0)).isEqualTo(1 << 20);
    }
  }

  /** No sensor is there: the software device has none, and the numbers are invented. */
  @Test
  void sensorsThatAreNotThereAreNotSupported() throws Exception {
    try (CudaClient alice = connect("alice", ServerFixture.ALICE)) {
      for (int sensor : new int[] {0, 7, 8, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
        assertThatThrownBy(() -> alice.call("graftSensor", with(0, sensor, 1)))
            .hasMessageContaining(String.valueOf(CudaResult.NOT_SUPPORTED));
      }
      for (int ordinal : new int[] {1, -1, Integer.MIN_VALUE}) {
        assertThatThrownBy(() -> alice.call("graftSensor", with(ordinal, 0, 1)))
            .hasMessageContaining(String.valueOf(CudaResult.INVALID_DEVICE));
      }
    }
  }

  @Test
  void withoutAContextCallsAnswerSo() throws Exception {
    try (CudaClient bare = connect("alice", ServerFixture.ALICE)) {
      assertThatThrownBy(() -> bare.allocate(16))
          .hasMessageContaining(String.valueOf(CudaResult.INVALID_CONTEXT));
    }
  }
}
