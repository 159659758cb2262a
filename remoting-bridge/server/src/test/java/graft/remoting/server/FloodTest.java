package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Connections without end: each guest that behaves still gets its session and right answers, a
 * program that runs goes on with right results, and the server uses afterwards what it used before.
 * How much longer sessions take to start is printed. It is to be less than twice, but attackers,
 * server and guests share the test's processors, so that only a much larger bound is asserted.
 */
@Timeout(900)
@Isolated("it counts Graft's files in /dev/shm")
class FloodTest {
  /** Whether the floods are as large as docs/security.md says: {@code ./graft test --long}. */
  private static final boolean LONG = "all".equals(System.getenv("GRAFT_LONG_TESTS"));

  private static final int STRANGERS = LONG ? 10_000 : 1_500;
  private static final int ATTACKERS = 4;
  private static final int SESSIONS = LONG ? 1_000 : 100;

  /** In full as many as a server has by default. */
  private static final int PLACES = LONG ? 64 : 32;

  /** The start of a session may take this many times its usual time, and a second. */
  private static final int MUCH_LONGER = 30;

  private static final byte[] CAROL = ServerFixture.token((byte) 9);

  @TempDir Path folder;

  @BeforeEach
  void carolMayComeToo() throws IOException {
    Files.writeString(
        ServerFixture.tokens(folder),
        "carol " + HexFormat.of().formatHex(CAROL) + "\n",
        StandardOpenOption.APPEND);
  }

  /** A program of carol's that runs all the time and checks each answer. */
  private static final class Beside implements AutoCloseable {
    private final WireClient client;
    private final Thread thread = new Thread(this::run, "beside");
    private final AtomicReference<Throwable> wrong = new AtomicReference<>();
    private volatile boolean isToEnd;
    private long calls; // read after the thread has ended, as the next one
    private long slowest;

    Beside(ListenAddress address) throws IOException {
      client = WireClient.session(address, "carol", CAROL);
      thread.start();
    }

    private void run() {
      Random random = new Random(7);
      try {
        while (!isToEnd) {
          byte[] said = new byte[8 * (1 + random.nextInt(100))];
          random.nextBytes(said);
          long began = System.nanoTime();
          WireClient.Answer answer = client.call(EchoBackend.ECHO, 3, said);
          slowest = Math.max(slowest, System.nanoTime() - began);
          if (answer.slot() != 3 || !Arrays.equals(answer.payload().array(), said)) {
            throw new AssertionError("another answer");
          }
          calls++;
          Thread.sleep(1); // so that it takes no processor from those that are measured
        }
      } catch (IOException | InterruptedException | AssertionError e) {
        wrong.set(e);
      }
    }

    /** Ends the program and returns what it did. */
    String end() throws InterruptedException {
      isToEnd = true;
      thread.join();
      assertThat(wrong.get()).as("the program beside the attack").isNull();
      assertThat(calls).isPositive();
      return String.format(
          Locale.ROOT,
          "the program beside it made %d calls, the slowest %.0f ms",
          calls,
          slowest / 1e6);
    }

    @Override
    public void close() throws IOException {
      isToEnd = true;
      client.close();
    }
  }

  /** Starts a session, makes one call, and returns the nanoseconds that took. */
  private static long good(ListenAddress address, String name, byte[] token) throws IOException {
    long began = System.nanoTime();
    byte[] said = WireClient.little(8).putLong(began).array();
    try (WireClient client = WireClient.session(address, name, token)) {
      assertThat(client.call(EchoBackend.ECHO, 5, said))
          .returns(5, WireClient.Answer::slot)
          .returns(0, WireClient.Answer::result)
          .satisfies(answer -> assertThat(answer.payload().array()).isEqualTo(said));
    }
    return System.nanoTime() - began;
  }

  private static double median(List<Long> nanos) {
    return nanos.stream().sorted().skip(nanos.size() / 2).findFirst().orElseThrow() / 1e6;
  }

  private static void print(String attack, List<Long> usual, List<Long> during, String rest) {
    System.out.printf(
        Locale.ROOT,
        "%s: a session starts in %.1f ms usually, in %.1f ms meanwhile (%.2f times, %d sessions)%n "
            + " %s%n",
        attack,
        median(usual),
        median(during),
        median(during) / median(usual),
        during.size(),
        rest);
    assertThat(median(during)).isLessThan(MUCH_LONGER * median(usual) + 1000);
  }

  private static List<Long> usual(AttackedServer server) throws IOException {
    List<Long> usual = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      long nanos = good(server.address(), "bob", ServerFixture.BOB);
      if (i >= 4) { // the first ones load code
        usual.add(nanos);
      }
    }
    return usual;
  }

  @Test
  void connectionsWithoutATokenLockNobodyOut() throws Exception {
    try (AttackedServer server = AttackedServer.start(folder, "echo", "--spare", "2")) {
      List<Long> usual = usual(server);
      AttackedServer.Use before = server.use();
      Beside carol = new Beside(server.address());
      AtomicInteger made = new AtomicInteger();
      ExecutorService attackers = Executors.newFixedThreadPool(ATTACKERS);
      List<Future<Integer>> ends = new ArrayList<>();
      for (int i = 0; i < ATTACKERS; i++) {
        int attacker = i;
        ends.add(
            attackers.submit(
                () -> strangers((ListenAddress.Tcp) server.address(), attacker, made)));
      }
      List<Long> during = new ArrayList<>();
      int mostThreads = 0;
      do {
        during.add(good(server.address(), "bob", ServerFixture.BOB));
        mostThreads = Math.max(mostThreads, server.use().threads());
      } while (ends.stream().anyMatch(end -> !end.isDone()));
      int welcome = 0;
      for (Future<Integer> end : ends) {
        welcome += end.get();
      }
      attackers.shutdown();
      String beside = carol.end();
      carol.close();
      assertThat(made).hasValue(STRANGERS);
      assertThat(welcome).as("strangers who got a session").isZero();
      assertThat(mostThreads).isLessThan(before.threads() + 64 + 64 + 16);
      AttackedServer.Use after = server.awaitUse(before);
      // 20 lines a second from each of four addresses, and one that says that more are left out
      assertThat(server.log().length()).isLessThan(2 << 20);
      server.assertNothingCrashed();
      print(
          STRANGERS + " connections without a token",
          usual,
          during,
          beside
              + "; before "
              + before
              + "; after "
              + after
              + "; at most "
              + mostThreads
              + " threads");
    }
  }

  /** Connects from an address of its own in every way that begins no session. */
  private static int strangers(ListenAddress.Tcp server, int attacker, AtomicInteger made)
      throws IOException {
    Random random = new Random(attacker);
    ArrayDeque<WireClient> held = new ArrayDeque<>();
    int welcome = 0;
    for (int i = 0; i < STRANGERS / ATTACKERS; i++) {
      WireClient client = WireClient.connectFrom("127.0.0." + (2 + attacker), server);
      made.incrementAndGet();
      held.add(client);
      try {
        welcome += approach(client, i % 6, random) ? 1 : 0;
      } catch (IOException e) {
        // The server has closed the connection.
      }
      if (held.size() > 100) {
        held.remove().close();
      }
    }
    for (WireClient client : held) {
      client.close();
    }
    return welcome;
  }

  private static boolean approach(WireClient client, int way, Random random) throws IOException {
    byte[] bytes = new byte[HandshakeMessages.HELLO];
    random.nextBytes(bytes);
    ByteBuffer hello = ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    switch (way) {
      case 0 -> {} // says nothing
      case 1 -> client.send(hello.slice(0, 1 + random.nextInt(100))); // half of a greeting
      case 2 -> client.send(hello); // garbage
      case 3 -> { // a greeting, and no proof
        hello.putInt(0, HandshakeMessages.MAGIC).putInt(4, HandshakeMessages.VERSION);
        client.send(hello.putLong(8, Dispatcher.API_HASH).putInt(112, 0));
      }
      case 4 -> { // a wrong token
        byte[] token = Arrays.copyOf(bytes, 32);
        return client.authenticate("bob", token, Dispatcher.API_HASH, 0, 0, 0).status() == 0;
      }
      default -> { // a further connection of a session that does not exist
        byte[] secret = Arrays.copyOf(bytes, 32);
        long session = random.nextLong();
        return client.authenticate("bob", secret, Dispatcher.API_HASH, 1, 1, session).status() == 0;
      }
    }
    return false;
  }

  @Test
  void sessionsWithoutEndOfOneGuestLeaveAPlaceForTheOther() throws Exception {
    try (AttackedServer server =
        AttackedServer.start(
            folder, "echo", "--spare", "2", "--max-sessions", Integer.toString(PLACES))) {
      List<Long> usual = usual(server);
      AttackedServer.Use before = server.use();
      Beside carol = new Beside(server.address());
      Queue<WireClient> open = new ConcurrentLinkedQueue<>();
      Map<Integer, Integer> outcomes = new ConcurrentHashMap<>();
      ExecutorService attackers = Executors.newFixedThreadPool(ATTACKERS);
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < ATTACKERS; i++) {
        ends.add(attackers.submit(() -> greedy(server.address(), open, outcomes)));
      }
      List<Long> during = new ArrayList<>();
      int busy = 0;
      do {
        try {
          during.add(good(server.address(), "bob", ServerFixture.BOB));
        } catch (IOException e) {
          // His session before this one has not quite ended, and the others hold all other places.
          assertThat(e).hasMessageContaining("has its " + PLACES + " sessions: try later");
          busy++;
        }
      } while (during.isEmpty() || ends.stream().anyMatch(end -> !end.isDone()));
      for (Future<?> end : ends) {
        end.get();
      }
      attackers.shutdown();
      String beside = carol.end();
      carol.close();
      int most = server.use().processes();
      for (WireClient client : open) {
        assertThat(client.call(EchoBackend.ECHO, 1, new byte[8]).slot()).isEqualTo(1);
        client.close();
      }
      // Carol has one place, and one is kept for bob, who has no session between two of his.
      assertThat(open).hasSizeBetween(PLACES / 2, PLACES - 2);
      assertThat(outcomes.keySet()).containsOnly(0, HandshakeStatus.BUSY.code());
      assertThat(outcomes.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(SESSIONS);
      AttackedServer.Use after = server.awaitUse(before);
      server.assertNothingCrashed();
      print(
          SESSIONS + " sessions with a token against a limit of " + PLACES,
          usual,
          during,
          outcomes.get(0)
              + " got a place, bob was told "
              + busy
              + " times to try later; "
              + beside
              + "; before "
              + before
              + "; after "
              + after
              + "; at most "
              + most
              + " workers");
    }
  }

  private static Void greedy(
      ListenAddress address, Queue<WireClient> open, Map<Integer, Integer> outcomes)
      throws IOException {
    for (int i = 0; i < SESSIONS / ATTACKERS; i++) {
      WireClient client = WireClient.connect(address);
      int status =
          client.authenticate("alice", ServerFixture.ALICE, Dispatcher.API_HASH, 0, 0, 0).status();
      outcomes.merge(status, 1, Integer::sum);
      if (status == 0) {
        open.add(client);
      } else {
        client.close();
      }
    }
    return null;
  }
}
