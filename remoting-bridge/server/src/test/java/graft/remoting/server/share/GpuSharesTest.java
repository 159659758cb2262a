package graft.remoting.server.share;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.remoting.device.Memory;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Leases between threads of one process: waiting, ends of turns, and workers that lie. */
@Timeout(120)
class GpuSharesTest {
  private static final DeviceSpec DEVICE = DeviceSpec.parse("software");
  private static final long PAGE = 4096;
  private static final int RUNNING = 8;
  private static final int WAITING = 16;
  private static final int USED = 24;
  private static final int WAITED = 32;

  // The common pool has a single thread on a machine with two processors.
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir Path folder;

  /** Grants with such settings for alice, and others for bob. */
  private Map<String, Grant> grants(String alice, String bob) throws IOException {
    Path file = folder.resolve("tokens");
    String token = "ab".repeat(32);
    Files.writeString(file, "alice " + token + " " + alice + "\nbob " + token + " " + bob + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return new TokensFile(file).read();
  }

  private Map<String, Grant> halves() throws IOException {
    return grants("class=guaranteed compute=50", "class=guaranteed compute=50");
  }

  private static GpuShares.SessionLease open(GpuShares shares, String guest) throws IOException {
    GpuShares.SessionLease lease = shares.open(guest, DEVICE);
    lease.begin("");
    return lease;
  }

  private static GpuLease worker(GpuShares.SessionLease lease) throws IOException {
    GpuLease worker = GpuLease.map(lease.page().fd());
    worker.askBy(lease::ask);
    return worker;
  }

  /** Maps the page a second time, as a compromised worker would. */
  private static long map(GpuShares.SessionLease lease) {
    return Libc.mmap(
        0, PAGE, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, lease.page().fd(), 0);
  }

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  @Test
  void withoutSharesNobodyWaits() throws Exception {
    try (GpuShares shares = GpuShares.start(Map.of(), Duration.ZERO)) {
      GpuLease alice = worker(open(shares, "alice"));
      GpuLease bob = worker(open(shares, "bob"));
      alice.begin();
      bob.begin();
      bob.end();
      alice.end();
    }
  }

  @Test
  void workThatNeverEndsDelaysTheOthersOnlyForATime() throws Exception {
    try (GpuShares shares = GpuShares.start(halves(), Duration.ZERO)) {
      GpuShares.SessionLease endless = open(shares, "alice");
      GpuShares.SessionLease other = open(shares, "bob");
      worker(endless).begin();
      GpuLease bob = worker(other);
      for (int i = 0; i < 100; i++) {
        bob.begin();
        bob.end();
      }
      // The endless work is charged all the time, so that it gets no further turn.
      assertThat(other.page().isWaiting()).isFalse();
      assertThat(endless.page().isRunning()).isTrue();
    }
  }

  @Test
  void aWorkerThatClaimsToRunForEverIsNamedOnce() throws Exception {
    try (GpuShares shares = GpuShares.start(halves(), Duration.ofMillis(200))) {
      AtomicInteger named = new AtomicInteger();
      GpuShares.SessionLease liar = open(shares, "alice");
      liar.onOverrun(named::incrementAndGet);
      worker(liar).begin();
      Memory.putLongVolatile(map(liar) + RUNNING, -1);
      GpuShares.SessionLease other = open(shares, "bob");
      other.onOverrun(Assertions::fail);
      GpuLease bob = worker(other);
      while (named.get() == 0) {
        bob.begin();
        bob.end();
      }
      liar.close();
      bob.begin();
      bob.end();
      assertThat(named).hasValue(1);
    }
  }

  /** Kernels that wait for each other: the first ends only when the second has begun. */
  @Test
  void workOfTwoGuestsThatWaitForEachOtherEnds() throws Exception {
    try (GpuShares shares = GpuShares.start(halves(), Duration.ZERO)) {
      GpuLease alice = worker(open(shares, "alice"));
      GpuLease bob = worker(open(shares, "bob"));
      CountDownLatch aliceRuns = new CountDownLatch(1);
      CountDownLatch bobRuns = new CountDownLatch(1);
      CompletableFuture<Void> waits =
          CompletableFuture.runAsync(
              () -> {
                alice.begin();
                aliceRuns.countDown();
                await(bobRuns);
                alice.end();
              },
              threads);
      await(aliceRuns);
      bob.begin();
      bobRuns.countDown();
      waits.get(30, TimeUnit.SECONDS);
      bob.end();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void sessionsOfOneGuestRunTogether() throws Exception {
    try (GpuShares shares = GpuShares.start(halves(), Duration.ZERO)) {
      GpuLease first = worker(open(shares, "alice"));
      GpuLease second = worker(open(shares, "alice"));
      first.begin();
      second.begin();
      second.end();
      first.end();
    }
  }

  @Test
  void whoWaitsGoesOnWhenSharesAreRemoved() throws Exception {
    try (GpuShares shares =
        GpuShares.start(grants("class=guaranteed compute=90", ""), Duration.ZERO)) {
      GpuLease alice = worker(open(shares, "alice"));
      GpuShares.SessionLease waiting = open(shares, "bob");
      alice.begin();
      CompletableFuture<Void> bob =
          CompletableFuture.runAsync(
              () -> {
                try {
                  worker(waiting).begin();
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              },
              threads);
      shares.change(Map.of());
      bob.get(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void aWorkerThatClaimsToWaitAndDoesNothingTakesOnlyItsTurns() throws Exception {
    try (GpuShares shares = GpuShares.start(halves(), Duration.ZERO)) {
      GpuShares.SessionLease liar = open(shares, "alice");
      Memory.putLongVolatile(map(liar) + WAITING, 1);
      GpuLease bob = worker(open(shares, "bob"));
      for (int i = 0; i < 20; i++) {
        bob.begin();
        bob.end();
      }
    }
  }

  @Test
  void aWorkerThatClaimsToRunForEverStopsNobody() throws Exception {
    try (GpuShares shares = GpuShares.start(halves(), Duration.ZERO)) {
      GpuShares.SessionLease liar = open(shares, "alice");
      long page = map(liar);
      Memory.putLongVolatile(page + RUNNING, -1);
      Memory.putLongVolatile(page + WAITING, 1);
      GpuLease bob = worker(open(shares, "bob"));
      for (int i = 0; i < 20; i++) {
        bob.begin();
        bob.end();
      }
    }
  }

  @Test
  void aWorkerCannotClaimMoreTimeThanHasPassed() throws Exception {
    try (GpuShares shares = GpuShares.start(Map.of(), Duration.ZERO)) {
      GpuShares.SessionLease liar = open(shares, "alice");
      long page = map(liar);
      for (long value : new long[] {Long.MAX_VALUE, -1, Long.MIN_VALUE}) {
        Memory.putLongVolatile(page + USED, value);
        Memory.putLongVolatile(page + WAITED, value);
        assertThat(liar.page().used()).isBetween(0L, TimeUnit.MINUTES.toNanos(1));
        assertThat(liar.page().waited()).isBetween(0L, TimeUnit.MINUTES.toNanos(1));
      }
    }
  }

  @Test
  void aWorkerCannotChangeTheSizeOfThePage() throws Exception {
    try (LeasePage page = LeasePage.create()) {
      assertThat(Libc.ftruncate(page.fd(), 0)).isEqualTo(-1);
      assertThat(Libc.ftruncate(page.fd(), 2 * PAGE)).isEqualTo(-1);
      page.grant(LeasePage.Queueing.ANY);
    }
  }

  @Test
  void timesStayReadableWhenTheSessionHasEnded() throws Exception {
    try (GpuShares shares = GpuShares.start(Map.of(), Duration.ZERO)) {
      GpuShares.SessionLease lease = open(shares, "alice");
      GpuLease worker = worker(lease);
      worker.begin();
      worker.end();
      long used = lease.page().used();
      lease.close();
      assertThat(used).isPositive();
      assertThat(lease.page().used()).isEqualTo(used);
      assertThat(lease.page().isRunning()).isFalse();
    }
  }
}
