package graft.remoting.server.share;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers of one GPU that share an arbiter, over real sockets: shares, and the arbiter's end. */
@Timeout(120)
class HostArbiterTest {
  private static final DeviceSpec DEVICE = DeviceSpec.parse("software");
  private static final String GPU = "GPU-67726166-742d-736f-6674-776172652d30";

  // The common pool has a single thread on a machine with two processors.
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<GpuShares> servers = new ArrayList<>();
  private final List<NativeSocket> sockets = new ArrayList<>();
  private final List<Future<?>> background = new ArrayList<>();

  @TempDir Path folder;
  private volatile boolean isOver;

  private Map<String, Grant> grants(String guest, String share) throws IOException {
    Path file = folder.resolve("tokens");
    Files.writeString(file, guest + " " + "ab".repeat(32) + " " + share + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return new TokensFile(file).read();
  }

  private GpuShares server(String name, Map<String, Grant> grants) {
    return server(name, grants, Duration.ZERO);
  }

  private GpuShares server(String name, Map<String, Grant> grants, Duration watchdog) {
    HostArbiter.Place place = new HostArbiter.Place(folder, name, process -> false);
    GpuShares server = GpuShares.start(grants, watchdog, Optional.of(place), false);
    servers.add(server);
    return server;
  }

  private static GpuShares.SessionLease open(GpuShares server, String guest) throws IOException {
    GpuShares.SessionLease lease = server.open(guest, DEVICE);
    lease.begin(GPU);
    return lease;
  }

  /**
   * Opens the first session of a server that has to follow another one, and waits until the other
   * one gives it its turns.
   */
  private GpuShares.SessionLease openFollowing(GpuShares server, String guest) throws Exception {
    int before = followed();
    GpuShares.SessionLease lease = open(server, guest);
    await(() -> server.follows(GPU) && followed() == before + 1);
    return lease;
  }

  /** How many sessions have their turns from another server than their own. */
  private int followed() {
    return servers.stream().mapToInt(server -> server.sessionsOfFollowers(GPU)).sum();
  }

  /** The worker of a session, which the server wakes by a message. */
  private GpuLease worker(GpuShares.SessionLease lease) throws IOException {
    GpuLease worker = GpuLease.map(lease.page().fd());
    worker.askBy(lease::ask);
    List<NativeSocket> ends = NativeSocket.pair("a worker");
    ControlSocket control = new ControlSocket(ends.get(1));
    background.add(
        threads.submit(
            () -> {
              while (control.receive() != null) {
                worker.granted();
              }
              return null;
            }));
    lease.connect(new ControlSocket(ends.get(0)));
    sockets.add(ends.get(0));
    return worker;
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) { // the test's time limit ends it
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  private void awaitArbiter() throws InterruptedException {
    await(() -> Files.exists(folder.resolve(GPU + ".accounts")));
  }

  @Test
  void workersThatNameManyGpusDoNotMakeManyArbiters() throws Exception {
    GpuShares server = server("one", grants("alice", "compute=10"));
    for (int i = 0; i < GpuShares.MOST_GPUS + 20; i++) {
      server.open("alice", DEVICE).begin("GPU-00000000-0000-0000-0000-%012x".formatted(i));
    }
    String last = "GPU-00000000-0000-0000-0000-%012x".formatted(GpuShares.MOST_GPUS - 1);
    await(() -> Files.exists(folder.resolve(last + ".accounts")));
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.filter(file -> file.toString().endsWith(".accounts")))
          .hasSizeLessThanOrEqualTo(GpuShares.MOST_GPUS);
    }
  }

  @AfterEach
  void stop() {
    isOver = true;
    background.forEach(each -> each.cancel(false));
    servers.forEach(GpuShares::close);
    sockets.forEach(NativeSocket::close);
    threads.shutdownNow();
  }

  /** Works and works. Returns the future of its end. */
  private CompletableFuture<Void> work(GpuLease worker) {
    return CompletableFuture.runAsync(
        () -> {
          while (!isOver) {
            turn(worker);
          }
        },
        threads);
  }

  private static void turn(GpuLease worker) {
    worker.begin();
    long end = System.nanoTime() + 200_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    worker.end();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The turn of one server's guest takes the lease of another's. */
  private void assertTakeTurns(GpuLease one, GpuLease other) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch seen = new CountDownLatch(1);
    CompletableFuture<Void> waits =
        CompletableFuture.runAsync(
            () -> {
              one.begin();
              begun.countDown();
              await(seen);
              one.end();
            },
            threads);
    await(begun);
    other.begin();
    boolean isHeld = one.isHeld();
    seen.countDown();
    other.end();
    waits.get(60, TimeUnit.SECONDS);
    assertThat(isHeld).isFalse();
  }

  @Test
  void guestsOfTwoServersTakeTurns() throws Exception {
    GpuShares first = server("a", grants("alice", "class=guaranteed compute=50"));
    GpuLease alice = worker(open(first, "alice"));
    awaitArbiter();
    GpuShares second = server("b", grants("bob", "class=guaranteed compute=50"));
    GpuLease bob = worker(openFollowing(second, "bob"));
    assertThat(first.follows(GPU)).isFalse();
    assertTakeTurns(alice, bob);
    assertTakeTurns(bob, alice);
  }

  @Test
  void aShareOfOneServerCountsForTheGuestsOfAll() throws Exception {
    GpuShares first = server("a", Map.of());
    GpuLease alice = worker(open(first, "alice"));
    awaitArbiter();
    assertThat(alice.isHeld()).isTrue(); // without shares nobody waits
    GpuShares second = server("b", grants("alice", "class=guaranteed compute=50"));
    GpuLease other = worker(openFollowing(second, "alice")); // two guests of one name
    await(() -> !alice.isHeld());
    assertTakeTurns(alice, other);
    second.change(Map.of());
    await(alice::isUnbounded);
    await(other::isUnbounded);
    second.change(grants("alice", "class=guaranteed compute=50"));
    await(() -> !alice.isHeld());
    assertTakeTurns(other, alice);
    second.close();
    await(alice::isUnbounded);
  }

  @Test
  void sharesHoldAcrossServers() throws Exception {
    GpuShares.SessionLease alice =
        open(server("a", grants("alice", "class=guaranteed compute=75")), "alice");
    awaitArbiter();
    GpuShares.SessionLease bob =
        openFollowing(server("b", grants("bob", "class=guaranteed compute=25")), "bob");
    background.add(work(worker(alice)));
    background.add(work(worker(bob)));
    await(() -> alice.page().used() > 0 && bob.page().used() > 0);
    long aliceBefore = alice.page().used();
    long bobBefore = bob.page().used();
    await(() -> alice.page().used() + bob.page().used() - aliceBefore - bobBefore > 2_000_000_000L);
    double most = alice.page().used() - aliceBefore;
    double rest = bob.page().used() - bobBefore;
    System.out.printf("asked 75 and 25, got %.1f percent%n", 100 * most / (most + rest));
    assertThat(most / (most + rest)).isBetween(0.6, 0.9);
  }

  @Test
  void whenTheArbiterEndsAnotherServerTakesOver() throws Exception {
    Map<String, Grant> none = Map.of();
    GpuShares first = server("a", grants("alice", "class=guaranteed compute=50"));
    open(first, "alice");
    awaitArbiter();
    GpuShares second = server("b", grants("bob", "class=guaranteed compute=50"));
    GpuLease bob = worker(openFollowing(second, "bob"));
    GpuShares third = server("c", none);
    GpuLease carol = worker(openFollowing(third, "carol"));
    CompletableFuture<Void> goesOn = work(bob);
    first.close();
    // One of them follows the other, and no longer the one that has ended.
    await(() -> second.follows(GPU) != third.follows(GPU) && followed() == 1);
    assertThat(goesOn.isDone()).isFalse();
    isOver = true;
    goesOn.get(60, TimeUnit.SECONDS);
    assertTakeTurns(carol, bob);
    assertTakeTurns(bob, carol);
    GpuShares back = server("a", grants("alice", "class=guaranteed compute=50"));
    GpuLease alice = worker(openFollowing(back, "alice"));
    assertTakeTurns(alice, carol);
  }

  @Test
  void theServerOfASessionEndsIt() throws Exception {
    GpuShares first = server("a", grants("alice", "class=guaranteed compute=50"));
    GpuLease alice = worker(open(first, "alice"));
    awaitArbiter();
    GpuShares second = server("b", Map.of(), Duration.ofMillis(200));
    CountDownLatch named = new CountDownLatch(1);
    GpuShares.SessionLease endless = openFollowing(second, "bob");
    endless.onOverrun(named::countDown);
    worker(endless).begin();
    background.add(work(alice));
    await(named);
    endless.close();
    GpuLease next = worker(open(second, "bob"));
    next.begin();
    next.end();
  }

  @Test
  void aWorkerMayNotFollow() throws Exception {
    long self = ProcessHandle.current().pid();
    HostArbiter.Place place = new HostArbiter.Place(folder, "a", process -> process == self);
    GpuShares first =
        GpuShares.start(
            grants("alice", "class=guaranteed compute=50"),
            Duration.ZERO,
            Optional.of(place),
            false);
    servers.add(first);
    open(first, "alice");
    awaitArbiter();
    try (NativeSocket worker =
            NativeSocket.connectPackets(folder.resolve(GPU + ".sock"), "the arbiter");
        Scratch scratch = new Scratch(1)) {
      assertThat(worker.receive(scratch.address(), 1)).isEqualTo(NativeSocket.END);
    }
  }

  @Test
  void aFolderThatOthersEnterIsNotUsed() throws Exception {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwx---"));
    GpuShares alone = server("a", grants("alice", "class=guaranteed compute=50"));
    GpuLease alice = worker(open(alone, "alice"));
    GpuLease bob = worker(open(alone, "bob"));
    assertTakeTurns(alice, bob); // the server keeps the shares of its own guests
    assertThat(folder.resolve(GPU + ".sock")).doesNotExist();
  }
}
