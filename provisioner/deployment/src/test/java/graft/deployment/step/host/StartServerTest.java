package graft.deployment.step.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.Endpoint;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.observe.Connections;
import graft.deployment.step.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the server of a GPU is started with, and how long it is waited for. */
class StartServerTest {
  private static final String MIG = "MIG-9f2a5e7c-0f8e-5e52-9e0c-3a7c1a2b3c4d";

  @Test
  void aMigInstanceIsTheOnlyDeviceThatItsServerSees() {
    ProcessBuilder program = server(MIG).program();
    assertThat(program.environment()).containsEntry("CUDA_VISIBLE_DEVICES", MIG);
    assertThat(program.command()).containsSequence("--device", "gpu").doesNotContain(MIG);
  }

  @Test
  void anotherDeviceIsNamedToTheServer() {
    ProcessBuilder program = server("gpu:1").program();
    assertThat(program.environment().get("CUDA_VISIBLE_DEVICES"))
        .isEqualTo(System.getenv("CUDA_VISIBLE_DEVICES"));
    assertThat(program.command()).containsSequence("--device", "gpu:1");
  }

  @Test
  void itsLimitsAreOptionsAndItsLogIsRotated() {
    assertThat(server("software").program().command())
        .containsSequence("--idle-timeout", "30m")
        .containsSequence("--log", "/t/log");
  }

  @Test
  void itShowsItsSessionsUnlessItsOptionsSayOtherwise() {
    assertThat(server("software").program().command())
        .containsSequence("--metrics", "unix:///t/pid.metrics.sock")
        .containsSequence("--session-log", "on");
    assertThat(
            server("software", Path.of("/t"), List.of("--metrics", "off", "--session-log", "off"))
                .program()
                .command())
        .containsSequence("--metrics", "off")
        .containsSequence("--session-log", "off")
        .doesNotContain("unix:///t/pid.metrics.sock", "on");
  }

  /** Linux takes paths of sockets up to 107 bytes. */
  @Test
  void aFolderWhosePathIsTooLongHasNoSockets() {
    assertThat(server("software", Path.of("/" + "t".repeat(100)), List.of()).program().command())
        .containsSequence("--operator", "off")
        .doesNotContain("--metrics")
        .containsSequence("--session-log", "on");
  }

  @Test
  void theEndOfALogIsReadAndNoLinkIsFollowed(@TempDir Path folder) throws Exception {
    Path log = folder.resolve("log");
    Files.writeString(log, "early\n".repeat(10_000) + "late\n".repeat(30));
    assertThat(StartServer.end(log).lines()).hasSize(20).containsOnly("late");
    Path link = Files.createSymbolicLink(folder.resolve("link"), log);
    assertThat(StartServer.end(link)).startsWith("(cannot read " + link).doesNotContain("late");
  }

  /** The server's user owns the folder of the log, and can put something else in its place. */
  @Test
  @Timeout(120)
  void nothingInPlaceOfALogCanBlockWhoReadsIt(@TempDir Path folder) throws Exception {
    Path fifo = folder.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    assertThat(StartServer.end(fifo)).isEqualTo("(cannot read " + fifo + ": Illegal seek)");
    assertThat(StartServer.end(folder)).startsWith("(cannot read " + folder);
    assertThat(StartServer.end(folder.resolve("none"))).startsWith("(cannot read ");
  }

  @Test
  @Timeout(120)
  void aServerThatEndsIsNotWaitedFor(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("log"), "port 7799 is taken\n");
    Process server = new ProcessBuilder("false").start();
    assertThatThrownBy(() -> awaitListening(server, Duration.ofMinutes(10), folder))
        .hasMessageContaining("the server of 'gpu0' ended before it listened")
        .hasMessageContaining("port 7799 is taken");
  }

  @Test
  @Timeout(120)
  void aServerThatHangsIsGivenUpInTheEnd(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("log"), "opening the GPU\n");
    Process server = new ProcessBuilder("sleep", "1000").start();
    try {
      assertThatThrownBy(() -> awaitListening(server, Duration.ofMillis(10), folder))
          .hasMessageContaining("the server of 'gpu0' runs, but does not listen after 0 s")
          .hasMessageContaining("opening the GPU");
    } finally {
      server.destroyForcibly();
    }
  }

  private static void awaitListening(Process server, Duration limit, Path folder) throws Exception {
    try (Journal journal =
        Journal.open(folder.resolve("journal.jsonl"), Steps.CODEC, Clock.systemUTC())) {
      StartServer step = server("software", folder);
      step.awaitListening(
          server::isAlive,
          new Await(limit, Duration.ofMillis(1)),
          step,
          () -> StartServer.end(folder.resolve("log")),
          new LiveContext(new Connections(), journal, ApplyListener.NONE));
    }
  }

  private static StartServer server(String device) {
    return server(device, Path.of("/t"));
  }

  private static StartServer server(String device, Path folder) {
    return server(device, folder, List.of("--idle-timeout", "30m"));
  }

  private static StartServer server(String device, Path folder, List<String> options) {
    return new StartServer(
        "gpu0",
        List.of(Endpoint.parse("tcp://127.0.0.1:7799")),
        device,
        Optional.empty(),
        1,
        List.of(),
        folder.resolve("tokens"),
        folder.resolve("pid"),
        folder.resolve("log"),
        options);
  }
}
