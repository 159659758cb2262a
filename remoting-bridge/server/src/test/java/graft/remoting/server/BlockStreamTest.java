package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * A session whose client sends blocks, right and wrong ones, as remoting-bridge/api/README.md
 * describes them: right ones carry what they hold, and wrong ones end their session alone.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("the server of BlockStreamTest")
class BlockStreamTest {
  private static final int KINDS = 7;
  private static final int LENGTH = 300_000;
  private static final int LARGEST = 256 << 10;
  private static final long SEED = Long.getLong("graft.seed", new Random().nextLong());

  /** One for all tests: starting processes takes nearly all of their time. */
  @TempDir static Path folder;

  private static AttackedServer server;
  private static CudaClient bob;
  private static long bobs;
  private static AttackedServer.Use before;

  /** The system's zstd. */
  private static final class Zstd {
    static {
      Native.register(Zstd.class, "libzstd.so.1");
    }

    static native long ZSTD_compress(long to, long room, long from, long bytes, int level);

    static byte[] compress(byte[] data) {
      int room = data.length + 1024;
      try (Scratch from = Scratch.of(data);
          Scratch to = new Scratch(room)) {
        int bytes = (int) ZSTD_compress(to.address(), room, from.address(), data.length, 1);
        return Scratch.bytesAt(to.address(), bytes);
      }
    }
  }

  private static byte[] block(int bytes, int packed, byte[] data) {
    return WireClient.little(8 + data.length).putInt(bytes).putInt(packed).put(data).array();
  }

  /** Sends its data in blocks of any size, once they have begun. */
  private static final class Blocks implements ByteChannel {
    final SocketChannel socket;
    private final Random random;
    private boolean areSent;

    Blocks(SocketChannel socket, Random random) {
      this.socket = socket;
      this.random = random;
    }

    static Blocks connect(ListenAddress address, Random random) throws IOException {
      int port = ((ListenAddress.Tcp) address).port();
      return new Blocks(
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)),
          random);
    }

    void begin() throws IOException {
      areSent = true;
      raw("GRAFTBK1".getBytes(StandardCharsets.US_ASCII));
    }

    void raw(byte[] bytes) throws IOException {
      ByteBuffer all = ByteBuffer.wrap(bytes);
      while (all.hasRemaining()) {
        socket.write(all);
      }
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      if (!areSent) {
        return socket.write(from);
      }
      int most = random.nextBoolean() ? LARGEST : 1000;
      byte[] data = new byte[1 + random.nextInt(Math.min(most, from.remaining()))];
      from.get(data);
      byte[] packed = Zstd.compress(data);
      boolean fits = packed.length < data.length && random.nextInt(4) != 0;
      raw(fits ? block(data.length, packed.length, packed) : block(data.length, 0, data));
      return data.length;
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
      return socket.read(to);
    }

    @Override
    public boolean isOpen() {
      return socket.isOpen();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @BeforeAll
  static void start() throws Exception {
    System.out.printf("-Dgraft.seed=%d%n", SEED);
    server = AttackedServer.start(folder, "software", "--spare", "1");
    bob = new CudaClient(WireClient.session(server.address(), "bob", ServerFixture.BOB)).retain();
    bobs = bob.allocate(LENGTH);
    assertBobWorks(SEED);
    before = server.use();
  }

  @AfterAll
  static void stop() throws Exception {
    bob.close();
    server.close();
  }

  /** Data that becomes smaller in parts. */
  private static byte[] data(Random random, int length) {
    byte[] data = new byte[length];
    random.nextBytes(data);
    for (int i = 0; i < 5; i++) {
      int from = random.nextInt(length);
      Arrays.fill(data, from, from + random.nextInt(length - from) / 2, (byte) i);
    }
    return data;
  }

  private static void read(CudaClient client, long memory, byte[] expected) throws IOException {
    client.begin("graftRead", with(memory, expected.length, 0));
    byte[] got = new byte[expected.length];
    for (int done = 0; done < got.length; ) {
      byte[] chunk = client.data().bytes().array();
      System.arraycopy(chunk, 0, got, done, chunk.length);
      done += chunk.length;
    }
    assertThat(client.wire.answer().result()).isZero();
    assertThat(Arrays.equals(got, expected)).isTrue();
  }

  private static void assertBobWorks(long seed) throws IOException {
    byte[] data = data(new Random(seed), LENGTH);
    bob.async("graftWrite", with(bobs, LENGTH, 0), data);
    read(bob, bobs, data);
  }

  /** A new session of alice on this channel, whose stream goes in blocks. */
  private static CudaClient session(Blocks channel) throws IOException {
    WireClient wire = new WireClient(channel);
    WireClient.Welcome welcome =
        wire.authenticate("alice", ServerFixture.ALICE, Dispatcher.API_HASH, 0, 0, 0);
    assertThat(welcome.status()).as(welcome.message()).isZero();
    assertThat(welcome.flags()).as("the worker understands blocks").isEqualTo(1);
    channel.begin();
    return new CudaClient(wire).retain();
  }

  /** A data connection of a session, whose stream goes in blocks. */
  private static WireClient dataConnection(WireClient session, long id, Blocks channel)
      throws IOException {
    WireClient wire = new WireClient(channel);
    WireClient.Welcome welcome =
        wire.authenticate("alice", session.sessionSecret(), Dispatcher.API_HASH, 1, 1, id);
    assertThat(welcome.status()).as(welcome.message()).isZero();
    channel.begin();
    return wire;
  }

  @Test
  void recordsAndBulkDataArriveInBlocks() throws Exception {
    Random random = new Random(SEED);
    try (CudaClient alice = session(Blocks.connect(server.address(), random))) {
      long memory = alice.allocate(LENGTH);
      for (int i = 0; i < 12; i++) {
        byte[] data = data(random, 1 + random.nextInt(LENGTH));
        alice.async("graftWrite", with(memory, data.length, 0), data);
        read(alice, memory, data);
      }
    }
    server.assertNothingCrashed();
  }

  @Test
  void chunksArriveInBlocks() throws Exception {
    Random random = new Random(SEED);
    Blocks channel = Blocks.connect(server.address(), random);
    WireClient wire = new WireClient(channel);
    WireClient.Welcome welcome =
        wire.authenticate("alice", ServerFixture.ALICE, Dispatcher.API_HASH, 0, 0, 0);
    channel.begin();
    try (CudaClient alice = new CudaClient(wire).retain();
        WireClient chunks =
            dataConnection(wire, welcome.sessionId(), Blocks.connect(server.address(), random))) {
      long memory = alice.allocate(LENGTH);
      byte[] data = data(random, LENGTH);
      alice.onDataConnections("graftWrite", with(memory, LENGTH, 0));
      int half = LENGTH / 2;
      for (int from : new int[] {half, 0}) {
        chunks.send(
            WireClient.little(24 + half)
                .putLong(1)
                .putLong(from)
                .putLong(half)
                .put(data, from, half)
                .flip());
      }
      read(alice, memory, data);
    }
    server.assertNothingCrashed();
  }

  /** Bytes that no client sends, of one of some kinds. */
  private static byte[] wrong(int kind, Random random) {
    byte[] zeros = Zstd.compress(new byte[16 << 20]);
    byte[] noise = new byte[1 + random.nextInt(2000)];
    random.nextBytes(noise);
    return switch (kind) {
      case 0 -> block(LARGEST, zeros.length, zeros); // it holds more than it claims
      case 1 -> block(16 << 20, zeros.length, zeros); // it claims more than a block may hold
      case 2 -> block(noise.length + 1, noise.length, noise);
      case 3 -> block(random.nextInt(), random.nextInt() | 1 << 30, noise);
      case 4 -> block(0, 0, noise);
      case 5 -> block(-1, 0, noise);
      default -> { // it holds less than it claims
        byte[] packed = Zstd.compress(new byte[5000]);
        yield block(5001 + random.nextInt(1000), packed.length, packed);
      }
    };
  }

  private static long linesWith(String text) throws IOException {
    return server.log().lines().filter(line -> line.contains(text)).count();
  }

  @Test
  void wrongBlocksEndTheirSessionAlone() throws Exception {
    String told = "protocol error: a ";
    long lines = linesWith(told);
    for (int kind = 0; kind < KINDS; kind++) {
      Random random = new Random(SEED + kind);
      Blocks channel = Blocks.connect(server.address(), random);
      try (CudaClient alice = session(channel)) {
        alice.allocate(LENGTH);
        channel.raw(wrong(kind, random));
        channel.socket.shutdownOutput();
        ByteBuffer rest = ByteBuffer.allocate(4096);
        while (channel.read(rest.clear()) >= 0) {
          // the session ends
        }
      } catch (IOException e) {
        // the server has closed the connection before it had read everything
      }
      assertBobWorks(SEED + kind);
    }
    System.out.println(server.awaitUse(before));
    server.assertNothingCrashed();
    assertThat(linesWith(told) - lines)
        .as("what was wrong is in the log")
        .isGreaterThanOrEqualTo(KINDS);
  }

  /** The same on a data connection, of some kinds by chance. */
  @Test
  void wrongBlocksOnDataConnectionsEndTheirSessionAlone() throws Exception {
    String told = "on a data connection: a ";
    long lines = linesWith(told);
    int[] kinds = new Random(SEED).ints(0, KINDS).distinct().limit(3).toArray();
    for (int kind : kinds) {
      Random random = new Random(SEED + kind);
      try (WireClient alice = WireClient.session(server.address(), "alice", ServerFixture.ALICE);
          Blocks channel = Blocks.connect(server.address(), random)) {
        dataConnection(alice, alice.sessionId(), channel);
        channel.raw(wrong(kind, random));
        while (true) {
          alice.receive(1); // until the session ends
        }
      } catch (IOException e) {
        // the server has closed a connection before it had read everything
      }
      assertBobWorks(SEED + kind);
    }
    System.out.println(server.awaitUse(before));
    server.assertNothingCrashed();
    assertThat(linesWith(told) - lines).isGreaterThanOrEqualTo(kinds.length);
  }
}
