package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;

import graft.common.audit.AuditLog;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kernels that do not end, beside a program that wants the device too. */
@Timeout(180)
class EndlessWorkTest {
  private static final Duration LIMIT = Duration.ofSeconds(1);
  private static final long BYTES = 1 << 20;

  /** A generator of random numbers that returns to 0 after 2^64 steps. */
  private static final String ENDLESS =
      """
      .version 6.4
      .target sm_50
      .address_size 64
      .visible .entry endless() {
        .reg .u64 %n;
        .reg .pred %p;
        mov.u64 %n, 0;
      L:
        mad.lo.u64 %n, %n, 6364136223846793005, 1;
        setp.ne.u64 %p, %n, 0;
        @%p bra L;
        ret;
      }
      \0""";

  // The common pool has a single thread on a machine with two processors.
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicLong steps = new AtomicLong();

  @TempDir Path folder;
  private volatile boolean isOver;

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  private ServerFixture start(AuditLog audit) throws Exception {
    HexFormat hex = HexFormat.of();
    Path tokens = folder.resolve("tokens");
    Files.writeString(
        tokens,
        "alice %s class=burstable%nbob %s class=burstable%n"
            .formatted(hex.formatHex(ServerFixture.ALICE), hex.formatHex(ServerFixture.BOB)));
    Files.setPosixFilePermissions(tokens, PosixFilePermissions.fromString("rw-------"));
    return ServerFixture.of(
        ServerFixture.withTokens(tokens, "software")
            .metrics(ListenAddress.parse("tcp://127.0.0.1:0"))
            .audit(audit)
            .spares(2)
            .watchdog(LIMIT));
  }

  /** A good program: fills memory, and waits for it, over and over. */
  private CompletableFuture<Void> work(WireClient wire) {
    return CompletableFuture.runAsync(
        () -> {
          try (CudaClient client = new CudaClient(wire).retain()) {
            long memory = client.allocate(BYTES);
            while (!isOver) {
              client.async("cuMemsetD8_v2", with(memory, 1, BYTES));
              client.call("graftContextSynchronize", with());
              steps.incrementAndGet();
            }
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        },
        threads);
  }

  private void awaitSteps(long more) throws InterruptedException {
    long wanted = steps.get() + more;
    while (steps.get() < wanted) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** A session whose device never has done its work. */
  private static CudaClient endless(ServerFixture fixture) throws IOException {
    CudaClient client = new CudaClient(fixture.alice()).retain();
    byte[] image = ENDLESS.getBytes(StandardCharsets.US_ASCII);
    client.call("graftModuleLoad", with(1, image.length, 0, 0, 0, 0, 0), image);
    client.call("graftModuleGetFunction", with(1, 1).text("endless").put(0).put(0).put(0));
    client.launch(1, 0, new byte[0]);
    return client;
  }

  private static long ended(ServerFixture fixture) throws IOException {
    ListenAddress.Tcp at = (ListenAddress.Tcp) fixture.server.metricsAddress().orElseThrow();
    URI page = URI.create("http://127.0.0.1:" + at.port() + "/metrics");
    String metrics = new String(page.toURL().openStream().readAllBytes(), StandardCharsets.UTF_8);
    return metrics
        .lines()
        .filter(line -> line.startsWith("graft_watchdog_ended_total "))
        .mapToLong(line -> Long.parseLong(line.split(" ", 2)[1]))
        .findFirst()
        .orElseThrow();
  }

  private static void awaitEnded(ServerFixture fixture, long count) throws Exception {
    while (ended(fixture) < count) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  @Test
  void aSessionWithAnEndlessKernelIsEndedAndTheOtherGoesOn() throws Exception {
    Path audit = folder.resolve("audit.jsonl");
    try (AuditLog log = AuditLog.open(audit.toString(), message -> {});
        ServerFixture fixture = start(log);
        CudaClient alice = endless(fixture)) {
      CompletableFuture<Void> bob = work(fixture.bob());
      awaitSteps(1);
      awaitEnded(fixture, 1);
      assertThat(alice.wire.answer().toString()).isNotEmpty(); // why the session ends
      while (!Files.readString(audit).contains("session-end")) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      assertThat(Files.readString(audit))
          .containsPattern(
              "session-end.*alice.*its work kept the GPU from other guests for longer than the"
                  + " watchdog allows: 1 s");
      awaitSteps(20);
      isOver = true;
      bob.get(60, TimeUnit.SECONDS);
      assertThat(ended(fixture)).isEqualTo(1);
    }
  }

  /** The executor of such a session waits behind its kernel, and takes no further record. */
  @Test
  void aSessionThatHasItsExecutorWaitForItsKernelIsEndedToo() throws Exception {
    try (ServerFixture fixture = start(AuditLog.none());
        CudaClient alice = endless(fixture)) {
      alice.async("graftStreamSettle", with(0));
      CompletableFuture<Void> bob = work(fixture.bob());
      awaitEnded(fixture, 1);
      awaitSteps(20);
      isOver = true;
      bob.get(60, TimeUnit.SECONDS);
    }
  }

  /** The same without another guest, where no watchdog ends the session. */
  @Test
  void theSessionOfAClientThatLeavesEndsWhileItsExecutorWaits() throws Exception {
    Path audit = folder.resolve("audit.jsonl");
    try (AuditLog log = AuditLog.open(audit.toString(), message -> {});
        ServerFixture fixture = start(log)) {
      try (CudaClient alice = endless(fixture)) {
        alice.async("graftStreamSettle", with(0));
      }
      while (!Files.readString(audit).contains("session-end")) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
    }
  }

  /** Every session queues more, in other streams, for as long as it is served. */
  @Test
  void manySessionsThatKeepQueueingAllEnd() throws Exception {
    try (ServerFixture fixture = start(AuditLog.none())) {
      CompletableFuture<Void> bob = work(fixture.bob());
      awaitSteps(1);
      List<CompletableFuture<Void>> hostile = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        hostile.add(CompletableFuture.runAsync(() -> flood(fixture), threads));
      }
      awaitEnded(fixture, 3);
      for (CompletableFuture<Void> each : hostile) {
        each.get(60, TimeUnit.SECONDS);
      }
      awaitSteps(20);
      try (CudaClient again = new CudaClient(fixture.alice())) {
        again.retain(); // a guest is not locked out
      }
      isOver = true;
      bob.get(60, TimeUnit.SECONDS);
      assertThat(ended(fixture)).isEqualTo(3);
    }
  }

  private static void flood(ServerFixture fixture) {
    try (CudaClient client = endless(fixture)) {
      for (int stream = 1; ; stream++) {
        client.async("cuStreamCreate", with(stream, 0));
        client.launch(1, stream, new byte[0]);
        TimeUnit.MILLISECONDS.sleep(5);
      }
    } catch (IOException e) {
      // the session has ended
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
