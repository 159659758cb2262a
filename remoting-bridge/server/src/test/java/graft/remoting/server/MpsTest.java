package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sessions of dense guests, beside a shell script in place of NVIDIA's MPS, which prints what MPS
 * prints (driver 580) when a file is there, and writes its environment to another.
 */
@Timeout(120)
class MpsTest {
  @TempDir Path folder;

  /** Where every user can write. */
  @TempDir Path shared;

  private Path daemon;

  @BeforeEach
  void makeDaemon() throws IOException {
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
    daemon = shared.resolve("daemon");
    script("echo '[Control 1] Starting control daemon using socket /control'");
  }

  private void script(String begin) throws IOException {
    Files.writeString(
        daemon,
        """
        #!/bin/sh
        cd %s
        { echo "$1"; id -u; env; } >told.new && mv told.new told
        %s
        while sleep 0.05; do
          [ -e end ] && exit
          [ -e fault ] && rm fault &&
            for i in 1 2 3 4 5 6 7 8 9; do echo '[Server 2] Server is handling a fatal GPU error.'; done
        done
        """
            .formatted(shared, begin));
    Files.setPosixFilePermissions(daemon, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private ServerFixture start() throws Exception {
    return ServerFixture.start(
        folder, "software", config -> config.jail(JailConfig.defaults().withMps(daemon)).spares(1));
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** The workers of a server with MPS, of which no other test has one. */
  private static List<Long> workers() {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> process.info().command().filter(c -> c.endsWith("/java")).isPresent())
        .map(ProcessHandle::pid)
        .filter(process -> !pipes(process).isEmpty())
        .toList();
  }

  /** What a process's environment says of the folder of MPS. */
  private static Set<String> pipes(long process) {
    try {
      String environment = Files.readString(Path.of("/proc", "" + process, "environ"));
      return Stream.of(environment.split("\0", -1))
          .filter(variable -> variable.startsWith("CUDA_MPS_PIPE_DIRECTORY="))
          .collect(Collectors.toSet());
    } catch (IOException e) {
      return Set.of(); // it has ended
    }
  }

  /** The real user of a process, as /proc has it. */
  private static String user(long process) throws IOException {
    return Files.readAllLines(Path.of("/proc", "" + process, "status")).stream()
        .filter(line -> line.startsWith("Uid:"))
        .map(line -> line.split("\t", -1)[1])
        .collect(Collectors.joining());
  }

  @Test
  void allWorkersAndMpsHaveOneUserAndOneFolder() throws Exception {
    try (ServerFixture fixture = start();
        CudaClient alice = new CudaClient(fixture.alice()).retain();
        CudaClient bob = new CudaClient(fixture.bob()).retain()) {
      await(() -> workers().size() == 3); // two sessions and the spare
      List<String> told = Files.readAllLines(shared.resolve("told"));
      assertThat(told).startsWith("-f");
      Set<String> users = new HashSet<>(List.of(told.get(1)));
      Set<String> pipes =
          told.stream()
              .filter(line -> line.startsWith("CUDA_MPS_PIPE_DIRECTORY="))
              .collect(Collectors.toSet());
      for (long worker : workers()) {
        users.add(user(worker));
        pipes.addAll(pipes(worker));
      }
      assertThat(users).hasSize(1);
      assertThat(pipes).hasSize(1);
      Path place = Path.of(pipes.iterator().next().replaceFirst(".*=", ""));
      assertThat(Files.getPosixFilePermissions(place))
          .isEqualTo(PosixFilePermissions.fromString("rwx------"));
      assertThat(Files.getAttribute(place, "unix:uid")).hasToString(users.iterator().next());
      alice.allocate(1 << 20);
      bob.call("graftContextSynchronize", with());
    }
    await(() -> !isRunning());
  }

  private boolean isRunning() {
    return ProcessHandle.current()
        .descendants()
        .anyMatch(p -> p.info().commandLine().orElse("").contains(daemon.toString()));
  }

  @Test
  void aFaultEndsAllSessionsAndTheNextHasAFreshWorker() throws Exception {
    try (ServerFixture fixture = start();
        CudaClient alice = new CudaClient(fixture.alice()).retain();
        CudaClient bob = new CudaClient(fixture.bob()).retain()) {
      await(() -> workers().size() == 3);
      List<Long> before = workers();
      Files.createFile(shared.resolve("fault"));
      // The spare ends at once. A client that comes then waits for a fresh worker, and gets no
      // error of the others.
      await(() -> workers().stream().filter(before::contains).count() < 3);
      assertThat(Thread.getAllStackTraces().keySet().stream().map(Thread::getName))
          .filteredOn("graft-mps-fault"::equals)
          .hasSizeLessThan(2);
      try (CudaClient next = new CudaClient(fixture.alice()).retain()) {
        assertThat(workers()).doesNotContainAnyElementsOf(before);
        next.allocate(1 << 20);
      }
      for (CudaClient client : List.of(alice, bob)) {
        String last = new String(client.wire.answer().payload().array(), StandardCharsets.UTF_8);
        assertThat(last)
            .contains("a fault of a program on the GPU has ended the work of all dense");
      }
    }
  }

  @Test
  void aDaemonThatDoesNotStartIsNamedWithItsReason() throws Exception {
    script("echo 'An instance of this daemon is already running'; exit 1");
    assertThatThrownBy(this::start)
        .isInstanceOf(ServerException.class)
        .hasMessage(
            "nvidia-cuda-mps-control has ended: An instance of this daemon is already running");
    assertThat(isRunning()).isFalse();
    assertThat(workers()).isEmpty();
  }
}
