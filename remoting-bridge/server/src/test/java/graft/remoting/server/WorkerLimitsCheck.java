package graft.remoting.server;

import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * What a compromised worker can take of its host: no more memory, threads and time of the CPUs than
 * its cgroup allows, while the server and other sessions go on. A program and no test, since the
 * machines that build Graft have no whole cgroup hierarchy of version 2; {@code lab test --units}
 * runs it in the lab. It prints a line for each check, and its exit code is 1 if one failed.
 */
final class WorkerLimitsCheck {
  private static final long MEMORY = 320L << 20;
  private static final int THREADS = 150;

  /** How long two workers compete for the CPUs. */
  private static final long BURN_MILLIS = 6_000;

  /** What part of an equal share of the CPUs a worker must get at least. */
  private static final double LEAST_SHARE = 0.7;

  /** How often a session is opened while no worker is ready, as on a machine with other work. */
  private static final int TRIES = 5;

  private static final Path CGROUPS = Path.of("/sys/fs/cgroup");

  private final ServerFixture fixture;
  private int failures;

  private WorkerLimitsCheck(ServerFixture fixture) {
    this.fixture = fixture;
  }

  /** Runs all checks; the argument is a folder for the server's files. */
  public static void main(String[] args) throws Exception {
    JailConfig jail = JailConfig.defaults().withMemory(MEMORY).withThreads(THREADS);
    try (ServerFixture fixture =
        ServerFixture.start(
            Path.of(args[0]), "hostile", config -> config.spares(2).jail(jail).maxSessions(4))) {
      WorkerLimitsCheck check = new WorkerLimitsCheck(fixture);
      check.isolation();
      check.threads();
      check.memory();
      check.cpus();
      System.exit(check.failures == 0 ? 0 : 1);
    }
  }

  private void verdict(boolean right, String what, String seen) {
    System.out.printf(
        Locale.ROOT, "%-7s %s%s%n", right ? "ok" : "FAILED", what, right ? "" : ": " + seen);
    failures += right ? 0 : 1;
  }

  private HostileClient alice() throws IOException {
    return session("alice", ServerFixture.ALICE);
  }

  private HostileClient bob() throws IOException {
    return session("bob", ServerFixture.BOB);
  }

  /** Opens a session, again if its worker started more slowly than the server waits for one. */
  private HostileClient session(String name, byte[] token) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        return HostileClient.session(fixture.address(), name, token);
      } catch (IOException e) {
        if (tries == TRIES || !e.getMessage().contains("ready in time")) {
          throw e;
        }
      }
    }
  }

  /** Checks that a session of the other guest that was open all along works, and a new one too. */
  private void othersWork(String after, HostileClient open) throws IOException {
    String devices = "fd null random shm urandom zero";
    String seen = open.attempt("see /dev");
    verdict(seen.equals(devices), after + ": another session goes on", seen);
    try (HostileClient fresh = alice()) {
      String again = fresh.attempt("see /dev");
      verdict(again.equals(devices), after + ": the guest gets a new session", again);
    }
  }

  private void isolation() {
    Isolation isolation = fixture.server.isolation();
    verdict(isolation.isComplete(), "workers have the whole jail", isolation.describe());
  }

  private void threads() throws IOException {
    try (HostileClient bob = bob();
        HostileClient alice = alice()) {
      String outcome = alice.attempt("threads " + 4 * THREADS);
      boolean refused = outcome.matches("no more than \\d+ threads");
      int made = refused ? Integer.parseInt(outcome.split(" ", -1)[3]) : THREADS;
      verdict(made < THREADS, "a worker gets no more than " + THREADS + " threads", outcome);
      String alive = alice.attempt("write /tmp/own");
      verdict(alive.equals("DONE"), "threads: its own session goes on", alive);
      othersWork("threads", bob);
    }
  }

  private void memory() throws IOException {
    try (HostileClient bob = bob()) {
      HostileClient alice = alice();
      String process = alice.process();
      String outcome;
      try {
        outcome = alice.attempt("memory " + 4 * MEMORY);
      } catch (IOException e) {
        outcome = "ended";
      }
      verdict(outcome.equals("ended"), "a worker that takes too much memory is killed", outcome);
      verdict(
          ProcessHandle.of(Long.parseLong(process)).isEmpty(),
          "its process is gone",
          "process " + process);
      othersWork("memory", bob);
    }
  }

  /** A worker with many busy threads takes no more of the CPUs than one with a single thread. */
  private void cpus() throws IOException, InterruptedException, ExecutionException {
    try (HostileClient bob = bob();
        HostileClient alice = alice()) {
      long aliceBefore = usage(alice.process());
      long bobBefore = usage(bob.process());
      String all = " " + BURN_MILLIS;
      CompletableFuture<String> greedy =
          CompletableFuture.supplyAsync(() -> burn(alice, "burn 16" + all));
      burn(bob, "burn 1" + all);
      greedy.get();
      double aliceSeconds = seconds(usage(alice.process()) - aliceBefore);
      double bobSeconds = seconds(usage(bob.process()) - bobBefore);
      // Of what both got, since other work of the machine may leave less than all its CPUs.
      double equal = Math.min((aliceSeconds + bobSeconds) / 2, BURN_MILLIS / 1000.0);
      String seen =
          String.format(
              Locale.ROOT,
              "%.1f s of the CPUs beside %.1f s of a worker with 16 threads",
              bobSeconds,
              aliceSeconds);
      verdict(bobSeconds >= LEAST_SHARE * equal, "a worker keeps its share of the CPUs", seen);
      System.out.println("        " + seen);
      othersWork("CPUs", bob);
    }
  }

  private static String burn(HostileClient client, String attempt) {
    try {
      return client.attempt(attempt);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static double seconds(long micros) {
    return (double) micros / TimeUnit.SECONDS.toMicros(1);
  }

  /** Returns the microseconds of the CPUs that the cgroup of a worker has used. */
  private static long usage(String process) throws IOException {
    String own =
        Files.readAllLines(Path.of("/proc", process, "cgroup")).stream()
            .filter(line -> line.startsWith("0::"))
            .findFirst()
            .orElseThrow()
            .substring("0::/".length());
    return Files.readAllLines(CGROUPS.resolve(own).resolve("cpu.stat")).stream()
        .filter(line -> line.startsWith("usage_usec "))
        .mapToLong(line -> Long.parseLong(line.substring("usage_usec ".length())))
        .findFirst()
        .orElseThrow();
  }
}
