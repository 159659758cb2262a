package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.audit.AuditLog;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Shares of the software device, from the tokens file to metrics and audit trail. */
@Timeout(180)
@Isolated("it measures what each session gets of the device")
class SharedDeviceTest {
  private static final int QUEUED = 30;

  // The common pool has a single thread on a machine with two processors.
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir Path folder;
  private volatile boolean isOver;

  private void tokens(String alice, String bob) throws IOException {
    HexFormat hex = HexFormat.of();
    Path file = folder.resolve("tokens.new");
    Files.writeString(
        file,
        "alice %s %s%nbob %s %s%n"
            .formatted(
                hex.formatHex(ServerFixture.ALICE), alice, hex.formatHex(ServerFixture.BOB), bob));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.move(file, folder.resolve("tokens"), StandardCopyOption.ATOMIC_MOVE);
  }

  private ServerFixture start(AuditLog audit) throws IOException, ServerException {
    ServerConfig.Builder config =
        ServerFixture.withTokens(folder.resolve("tokens"), "software")
            .metrics(ListenAddress.parse("tcp://127.0.0.1:0"))
            .audit(audit)
            .spares(2);
    return ServerFixture.of(config);
  }

  /** Fills memory, over and over, with some calls always queued. */
  private CompletableFuture<Void> work(WireClient wire) {
    return CompletableFuture.runAsync(
        () -> MemoryFilling.run(wire, QUEUED, () -> isOver, () -> {}), threads);
  }

  private static String metrics(ServerFixture fixture) throws IOException {
    ListenAddress.Tcp at = (ListenAddress.Tcp) fixture.server.metricsAddress().orElseThrow();
    URI page = URI.create("http://127.0.0.1:" + at.port() + "/metrics");
    return new String(page.toURL().openStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private static double seconds(String metrics, String name, String guest) {
    Matcher line =
        Pattern.compile(
                name
                    + "\\{guest=\""
                    + guest
                    + "\",gpu=\"software\",UUID=\"GPU-67726166-742d-736f-6674-776172652d30\"} (\\S+)")
            .matcher(metrics);
    return line.find() ? Double.parseDouble(line.group(1)) : 0;
  }

  private static double used(ServerFixture fixture, String guest) throws IOException {
    return seconds(metrics(fixture), "graft_session_gpu_seconds_total", guest);
  }

  /** Waits until both guests use the device. */
  private static void awaitBoth(ServerFixture fixture) throws Exception {
    while (used(fixture, "alice") < 0.2 || used(fixture, "bob") < 0.2) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /** Waits until both guests have used the device for so long together; returns alice's part. */
  private static double part(ServerFixture fixture, double seconds) throws Exception {
    double alice = used(fixture, "alice");
    double bob = used(fixture, "bob");
    while (true) {
      double aliceMore = used(fixture, "alice") - alice;
      double bobMore = used(fixture, "bob") - bob;
      if (aliceMore + bobMore > seconds) {
        return aliceMore / (aliceMore + bobMore);
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /**
   * Alice's part, once it is within bounds; else that of the last try. A turn that a busy machine
   * made long is a debt, which the session pays in the next seconds.
   */
  private static double settled(ServerFixture fixture, double from, double to) throws Exception {
    double part = Double.NaN;
    for (int tries = 0; tries < 8 && !(part >= from && part <= to); tries++) {
      part = part(fixture, 4);
    }
    return part;
  }

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  @Test
  void sharesHoldAndChangeWhileSessionsRun() throws Exception {
    tokens("", ""); // the first use of memory takes long, and would be a debt
    Path audit = folder.resolve("audit.jsonl");
    try (AuditLog log = AuditLog.open(audit.toString(), message -> {})) {
      List<CompletableFuture<Void>> work = new ArrayList<>();
      try (ServerFixture fixture = start(log)) {
        work.add(work(fixture.alice()));
        work.add(work(fixture.bob()));
        awaitBoth(fixture);
        tokens("class=guaranteed compute=25", "class=guaranteed compute=75");
        double quarter = settled(fixture, 0.12, 0.38);
        tokens("class=guaranteed compute=75", "class=guaranteed compute=25");
        double most = settled(fixture, 0.62, 0.88);
        System.out.printf("asked 25, got %.1f; asked 75, got %.1f%n", 100 * quarter, 100 * most);
        assertThat(quarter).isBetween(0.12, 0.38);
        assertThat(most).isBetween(0.62, 0.88);
        assertThat(seconds(metrics(fixture), "graft_lease_wait_seconds_total", "alice"))
            .isPositive();
        isOver = true;
        for (CompletableFuture<Void> each : work) {
          each.get(60, TimeUnit.SECONDS);
        }
        while (!Files.readString(audit).matches("(?s)(.*session-end){2}.*")) {
          TimeUnit.MILLISECONDS.sleep(50);
        }
      }
    }
    assertThat(Files.readString(audit))
        .containsPattern("\"event\":\"session-end\".*\"gpuSeconds\":[1-9]")
        .contains("\"leaseWaitSeconds\":");
  }

  @Test
  void aSessionThatIsKilledInItsTurnLeavesTheDeviceToTheOthers() throws Exception {
    tokens("class=guaranteed compute=90", "class=guaranteed compute=10");
    try (ServerFixture fixture = start(AuditLog.none())) {
      CompletableFuture<Void> alice = work(fixture.alice());
      CompletableFuture<Void> bob = work(fixture.bob());
      awaitBoth(fixture);
      ServerFixture.rewrite(folder, "bob", ServerFixture.BOB); // alice's token is revoked
      assertThatThrownBy(() -> alice.get(60, TimeUnit.SECONDS)).isNotNull();
      double before = used(fixture, "bob");
      while (used(fixture, "bob") - before < 0.5) {
        TimeUnit.MILLISECONDS.sleep(50);
      }
      isOver = true;
      bob.get(60, TimeUnit.SECONDS);
    }
  }
}
