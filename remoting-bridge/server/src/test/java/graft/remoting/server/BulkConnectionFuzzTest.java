package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.session.call.Dispatcher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A guest whose further connections (bulk data, answers of host functions, shadow mappings) carry
 * changed and random frames after a right handshake, while its session has transfers, reads, host
 * functions and mappings in progress: its session may end, but its worker does not crash, and
 * another guest's data stays right.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class BulkConnectionFuzzTest {
  private static final int SESSIONS = Integer.getInteger("graft.fuzz.sessions", 12);
  private static final int FRAMES = 60;
  private static final int LENGTH = 300_000;
  private static final int CALLBACKS = 0;
  private static final int DATA = 1;
  private static final int MAPPINGS = 2;

  /** Where shadow mappings may lie. */
  private static final long MAPPED = 0x310000000000L;

  private static final int MAPPED_BYTES = 1 << 16;
  private static final long[] NASTY = {
    0,
    1,
    7,
    8,
    4096,
    1 << 20,
    (1 << 20) + 1,
    Integer.MAX_VALUE,
    0xFFFFFFFFL,
    1L << 47,
    -1,
    -8,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };

  @TempDir Path folder;
  private AttackedServer server;
  private CudaClient bob;
  private long bobs;

  @BeforeEach
  void start() throws Exception {
    server = AttackedServer.start(folder, "software", "--spare", "1");
    bob = new CudaClient(WireClient.session(server.address(), "bob", ServerFixture.BOB)).retain();
    bobs = bob.allocate(LENGTH);
  }

  @AfterEach
  void stop() throws Exception {
    bob.close();
    server.close();
  }

  /** Bob's data comes back as he wrote it. */
  private void assertBobWorks(long seed) throws IOException {
    byte[] data = new byte[LENGTH];
    new Random(seed).nextBytes(data);
    bob.async("graftWrite", with(bobs, LENGTH, 0), data);
    bob.begin("graftRead", with(bobs, LENGTH, 0));
    byte[] got = new byte[LENGTH];
    for (int done = 0; done < LENGTH; ) {
      byte[] chunk = bob.data().bytes().array();
      System.arraycopy(chunk, 0, got, done, chunk.length);
      done += chunk.length;
    }
    assertThat(bob.wire.answer().result()).isZero();
    assertThat(Arrays.equals(got, data)).isTrue();
  }

  private static long nasty(Random random, long right) {
    return switch (random.nextInt(12)) {
      case 0 -> NASTY[random.nextInt(NASTY.length)];
      case 1 -> right + random.nextInt(17) - 8;
      case 2 -> random.nextLong();
      default -> right;
    };
  }

  /** A chunk of a transfer: u64 transfer, u64 offset, u64 length, data. */
  private static ByteBuffer chunk(Random random) {
    int length = 1 + random.nextInt(2000);
    int offset = random.nextInt(LENGTH - length);
    return WireClient.little(24 + length)
        .putLong(nasty(random, 1 + random.nextInt(4)))
        .putLong(nasty(random, offset))
        .putLong(nasty(random, length))
        .rewind();
  }

  private static ByteBuffer record(Random random, int function, long... words) {
    ByteBuffer record = WireClient.little(16 + 8 * words.length);
    record.putInt((int) nasty(random, record.capacity()));
    record.putShort((short) nasty(random, function)).putShort((short) nasty(random, 0));
    record.putInt(0).putInt(0);
    for (long word : words) {
      record.putLong(nasty(random, word));
    }
    return record.rewind();
  }

  /** The answer of a host function: its identity. */
  private static ByteBuffer callback(Random random) {
    return record(random, Dispatcher.number("graftHostFunctionDone"), 70 + random.nextInt(4));
  }

  /** A read, write or merge: u64 address, u64 bytes, data, mask. */
  private static ByteBuffer mapping(Random random) {
    int function = random.nextInt(3);
    int bytes = 8 * (1 + random.nextInt(200));
    long address = MAPPED + 8L * random.nextInt((MAPPED_BYTES - bytes) / 8);
    ByteBuffer record = record(random, function, address, bytes);
    int data = function == 0 ? 0 : function == 1 ? bytes : bytes + bytes / 8;
    return WireClient.little(32 + data).put(record).rewind();
  }

  private static ByteBuffer frame(Random random, int purpose) {
    if (random.nextInt(200) == 0) {
      byte[] noise = new byte[1 + random.nextInt(300)];
      random.nextBytes(noise);
      return ByteBuffer.wrap(noise);
    }
    return switch (purpose) {
      case DATA -> chunk(random);
      case CALLBACKS -> callback(random);
      default -> mapping(random);
    };
  }

  /** Sends frames, less than sockets hold, and returns how many. */
  private static int flood(WireClient connection, int purpose, Random random) {
    int sent = 0;
    try {
      for (; sent < FRAMES; sent++) {
        connection.send(frame(random, purpose));
      }
    } catch (IOException e) {
      // The session has ended.
    }
    return sent;
  }

  private List<WireClient> connections(CudaClient session, int... purposes) throws IOException {
    List<WireClient> connections = new ArrayList<>();
    for (int purpose : purposes) {
      connections.add(session.wire.connection(server.address(), "alice", purpose));
    }
    return connections;
  }

  private int attack(Random random) throws Exception {
    int sent = 0;
    int[] purposes = {DATA, DATA, CALLBACKS, MAPPINGS};
    try (CudaClient alice =
        new CudaClient(WireClient.session(server.address(), "alice", ServerFixture.ALICE))) {
      alice.retain();
      long memory = alice.allocate(LENGTH);
      alice.call("graftTwinMap", with(MAPPED, MAPPED_BYTES));
      List<WireClient> connections = connections(alice, purposes);
      for (int i = 0; i < 4; i++) {
        alice.async("graftHostFunction", with(0, 70 + i));
        alice.onDataConnections("graftWrite", with(memory, LENGTH, 0));
      }
      alice.begin("graftRead", with(memory, LENGTH, 0));
      alice.begin("graftContextSynchronize", with());
      for (int i = 0; i < purposes.length; i++) {
        sent += flood(connections.get(i), purposes[i], random);
      }
      assertBobWorks(random.nextLong());
      for (WireClient connection : connections) {
        connection.close();
      }
    }
    return sent;
  }

  @Test
  void framesThatAreWrongEndTheirSessionAlone() throws Exception {
    assertBobWorks(0);
    AttackedServer.Use before = server.use();
    int frames = 0;
    for (int seed = 0; seed < SESSIONS; seed++) {
      frames += attack(new Random(seed));
      assertBobWorks(seed);
    }
    System.out.printf("%d sessions, %d frames; %s%n", SESSIONS, frames, server.awaitUse(before));
    server.assertNothingCrashed();
    assertThat(frames).isGreaterThan(SESSIONS * 20);
  }

  /** Each costs the worker two threads, and the server none. */
  @Test
  void connectionsWithoutEndAreTheSessionsOwnLoss() throws Exception {
    assertBobWorks(0);
    AttackedServer.Use before = server.use();
    List<WireClient> open = new ArrayList<>();
    CudaClient alice =
        new CudaClient(WireClient.session(server.address(), "alice", ServerFixture.ALICE)).retain();
    try {
      for (int i = 0; i < 1000; i++) {
        open.add(
            alice.wire.connection(server.address(), "alice", HandshakeMessages.CONNECTION_DATA));
      }
    } catch (IOException e) {
      // The session has ended, or takes no more.
    }
    System.out.println(open.size() + " connections of one session");
    assertBobWorks(1);
    alice.close();
    for (WireClient connection : open) {
      connection.close();
    }
    server.awaitUse(before);
    server.assertNothingCrashed();
  }
}
