package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client that overwrites the memory that it shares with its worker while its sessions run, in a
 * guest and on the server's host: its sessions may end, but no worker crashes, and other guests are
 * not affected.
 */
@Timeout(120)
class HostileGuestTest {
  private static final int ECHOES = 400;
  private static final int PAGE = 4096;
  private static final long[] NASTY = {
    0,
    1,
    8,
    16,
    4095,
    4 << 20,
    (4 << 20) + 1,
    Integer.MAX_VALUE,
    0xFFFFFFFFL,
    1L << 47,
    -1,
    -8,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };

  @TempDir static Path folder;
  private static Path aliceMemory;
  private static Path bobMemory;
  private static ServerFixture fixture;

  /** The targets of the writes: each field of the rings' part, then all of it. */
  enum Target {
    MARK(0, 16),
    REQUESTS_HEAD(GuestMemoryClient.REQUESTS, 8, true),
    REQUESTS_TAIL(GuestMemoryClient.REQUESTS + 64, 8),
    REQUESTS_ASLEEP(GuestMemoryClient.REQUESTS + 128, 4),
    REQUESTS_DATA(GuestMemoryClient.REQUESTS_DATA, 4096),
    ANSWERS_HEAD(GuestMemoryClient.ANSWERS, 8),
    ANSWERS_TAIL(GuestMemoryClient.ANSWERS + 64, 8, true),
    ANSWERS_ASLEEP(GuestMemoryClient.ANSWERS + 128, 4),
    ANSWERS_DATA(GuestMemoryClient.ANSWERS_DATA, 4096),
    EVERYTHING(0, GuestMemoryClient.BYTES),

    /** No writes: pages of the rings are removed from the file. */
    PAGES(0, GuestMemoryClient.BYTES);

    private final int offset;
    private final int bytes;
    private final boolean ends;

    Target(int offset, int bytes) {
      this(offset, bytes, false);
    }

    /** A write after which the session must have ended. */
    Target(int offset, int bytes, boolean ends) {
      this.offset = offset;
      this.bytes = bytes;
      this.ends = ends;
    }
  }

  @BeforeAll
  static void start() throws Exception {
    aliceMemory = region("alice");
    bobMemory = region("bob");
    fixture =
        ServerFixture.start(
            folder,
            config -> config.spares(2).listen(new ListenAddress.Unix(folder.resolve("s.sock"))));
    HexFormat hex = HexFormat.of();
    Files.writeString(
        folder.resolve("tokens"),
        "alice %s region=%s%nbob %s region=%s%n"
            .formatted(
                hex.formatHex(ServerFixture.ALICE),
                aliceMemory,
                hex.formatHex(ServerFixture.BOB),
                bobMemory));
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  private static Path region(String name) throws IOException {
    Path file = folder.resolve(name);
    try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
      made.setLength(32 << 20);
    }
    return file;
  }

  private static long process(GuestMemoryClient client) throws IOException {
    byte[] who = client.call(EchoBackend.WHO, new byte[0]);
    return ByteBuffer.wrap(who).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
  }

  private static byte[] payload(long number) {
    return WireClient.little(64).putLong(number).putLong(56, ~number).array();
  }

  /** How the client shares memory with its worker. */
  enum Sharing {
    IVSHMEM,
    SHM
  }

  static Stream<Arguments> attacks() {
    return Stream.of(Sharing.values())
        .flatMap(sharing -> Stream.of(Target.values()).map(to -> Arguments.of(sharing, to)));
  }

  private static GuestMemoryClient alice(Sharing sharing) throws IOException {
    return sharing == Sharing.SHM
        ? GuestMemoryClient.shm(
            (ListenAddress.Unix) fixture.server.addresses().get(1), "alice", ServerFixture.ALICE)
        : GuestMemoryClient.session(fixture.address(), "alice", ServerFixture.ALICE, aliceMemory);
  }

  @ParameterizedTest
  @MethodSource("attacks")
  void scribblingHurtsItselfAlone(Sharing sharing, Target target) throws Exception {
    try (GuestMemoryClient bob =
        GuestMemoryClient.session(fixture.address(), "bob", ServerFixture.BOB, bobMemory)) {
      long worker;
      try (GuestMemoryClient alice = alice(sharing)) {
        worker = process(alice);
        scribbleWhileBothWork(target, alice, bob);
      }
      ProcessHandle.of(worker).ifPresent(process -> process.onExit().join());
      assertThat(Path.of(System.getProperty("java.io.tmpdir"), "graft-worker-" + worker + ".log"))
          .as("the Java runtime's report of a crash")
          .doesNotExist();
      try (GuestMemoryClient again = alice(sharing)) {
        assertThat(again.call(EchoBackend.ECHO, payload(1))).isEqualTo(payload(1));
      }
    }
  }

  private static void scribbleWhileBothWork(
      Target target, GuestMemoryClient alice, GuestMemoryClient bob) throws Exception {
    AtomicInteger right = new AtomicInteger();
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    Thread honest =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < ECHOES; i++) {
                  assertThat(bob.call(EchoBackend.ECHO, payload(i))).isEqualTo(payload(i));
                  right.incrementAndGet();
                }
              } catch (IOException | AssertionError e) {
                wrong.set(e);
              }
            });
    Thread confused =
        new Thread(
            () -> {
              try {
                for (int i = 0; !alice.hasEnded(); i++) {
                  alice.call(EchoBackend.ECHO, payload(i));
                }
              } catch (IOException | RuntimeException e) {
                // The session ends, as it should.
              }
            });
    honest.start();
    confused.start();
    Random random = new Random(target.offset);
    while (honest.isAlive() || (target.ends && !alice.hasEnded())) {
      if (target == Target.PAGES) {
        alice.punch(random.nextInt(target.bytes / PAGE) * (long) PAGE, PAGE);
        continue;
      }
      long at = alice.rings() + target.offset + random.nextInt(target.bytes / 4) * 4L;
      long value = random.nextBoolean() ? NASTY[random.nextInt(NASTY.length)] : random.nextLong();
      Memory.putInt(at, (int) (random.nextBoolean() ? value : value >>> 32));
      Thread.onSpinWait();
    }
    honest.join();
    alice.hangUp();
    confused.join();
    assertThat(wrong.get()).isNull();
    assertThat(right.get()).isEqualTo(ECHOES);
  }
}
