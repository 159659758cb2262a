package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.system.ListenAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
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

/** Two servers, each a process of its own, share the software device among their guests. */
@Timeout(180)
class TwoServersTest {

  /** So much that pauses between rounds count little on a busy machine, too. */
  private static final int QUEUED = 30;

  private static final int ROUNDS = 48;
  private static final int SOME = 10;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir Path folder;
  private volatile boolean isOver;

  private void tokens(String name, byte[] token, String share) throws IOException {
    Path file = folder.resolve("new");
    Files.writeString(file, name + " " + HexFormat.of().formatHex(token) + " " + share + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.move(file, folder.resolve(name + ".tokens"), StandardCopyOption.ATOMIC_MOVE);
  }

  private Process server(String guest) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.io.tmpdir=" + folder,
            "-cp",
            System.getProperty("java.class.path"),
            ServerMain.class.getName(),
            "--listen",
            "tcp://127.0.0.1:0",
            "--tokens",
            folder.resolve(guest + ".tokens").toString(),
            "--device",
            "software",
            "--arbiters",
            folder.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static ListenAddress address(Process server) throws IOException {
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    return ListenAddress.parse(out.readLine());
  }

  /** Fills memory, over and over, with some calls always queued, and counts the rounds. */
  private CompletableFuture<Void> work(WireClient wire, AtomicLong rounds) {
    return CompletableFuture.runAsync(
        () -> MemoryFilling.run(wire, QUEUED, () -> isOver, rounds::incrementAndGet), threads);
  }

  private static void await(AtomicLong rounds, long number) throws InterruptedException {
    while (rounds.get() < number) { // the test's time limit ends it
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  @AfterEach
  void stopThreads() {
    isOver = true;
    threads.shutdownNow();
  }

  @Test
  void guestsOfBothShareTheDeviceAndTheOneGoesOnWhenTheArbiterIsKilled() throws Exception {
    tokens("alice", ServerFixture.ALICE, ""); // the first use of memory takes long
    tokens("bob", ServerFixture.BOB, "");
    Process first = server("alice");
    Process second = null;
    try {
      AtomicLong alices = new AtomicLong();
      AtomicLong bobs = new AtomicLong();
      CompletableFuture<Void> alice =
          work(WireClient.session(address(first), "alice", ServerFixture.ALICE), alices);
      await(alices, 1); // the first server arbitrates
      second = server("bob");
      CompletableFuture<Void> bob =
          work(WireClient.session(address(second), "bob", ServerFixture.BOB), bobs);
      await(bobs, 1);
      tokens("alice", ServerFixture.ALICE, "class=guaranteed compute=75");
      tokens("bob", ServerFixture.BOB, "class=guaranteed compute=25");
      await(bobs, bobs.get() + SOME); // both servers have read their files
      long alicesBefore = alices.get();
      long bobsBefore = bobs.get();
      while (alices.get() + bobs.get() - alicesBefore - bobsBefore < ROUNDS) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      double part = (alices.get() - alicesBefore) / (double) ROUNDS;
      System.out.printf("two servers: asked 75, got %.1f percent%n", 100 * part);
      assertThat(part).isBetween(0.58, 0.92);
      first.destroyForcibly(); // SIGKILL
      assertThatThrownBy(() -> alice.get(60, TimeUnit.SECONDS)).isNotNull();
      await(bobs, bobs.get() + SOME);
      assertThat(bob.isDone()).isFalse();
      isOver = true;
      bob.get(60, TimeUnit.SECONDS);
    } finally {
      for (Process server : second == null ? List.of(first) : List.of(first, second)) {
        server.destroyForcibly();
      }
    }
  }
}
