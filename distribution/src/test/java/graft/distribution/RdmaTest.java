package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The channel rdma on a machine without adapters. */
@EnabledIfSystemProperty(named = "user.name", matches = "root")
final class RdmaTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private final String bridge = "grbr" + UUID.randomUUID().toString().substring(0, 6);
  private final String port = bridge + "p";
  @TempDir Path folder;

  @AfterEach
  void deleteTheBridge() throws Exception {
    new ProcessBuilder("ip", "link", "del", port).start().waitFor();
    new ProcessBuilder("ip", "link", "del", bridge).start().waitFor();
  }

  /**
   * UCX by itself would take the machine's fastest interface, such as a bridge of guests, and the
   * session would hang once that is gone.
   */
  @Test
  void aSessionGoesByTheInterfaceOfItsAddress() throws Exception {
    ip("link", "add", bridge, "type", "bridge");
    ip("address", "add", "198.51.100.1/24", "dev", bridge);
    ip("link", "add", port, "type", "veth", "peer", "name", bridge + "q");
    for (String one : List.of(bridge + "q", port)) {
      ip("link", "set", one, "up");
    }
    ip("link", "set", port, "master", bridge);
    ip("link", "set", bridge, "up");
    Programs.build(folder, List.of("loop"));
    SoftwareServer server = SoftwareServer.start(folder, "tcp://127.0.0.1:0");
    try {
      Process program = loop(server, "20000");
      try (BufferedReader out = program.inputReader()) {
        assertThat(List.of(out.readLine(), out.readLine())).containsExactly("cuInit 0", "looping");
        ip("link", "del", port);
        ip("link", "del", bridge);

        assertThat(program.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        assertThat(out.readLine()).isEqualTo("ended 0");
      } finally {
        program.destroyForcibly();
      }
    } finally {
      server.stop();
    }
  }

  /** UCX would reserve shared memory for each session, of which a guest has room for seven. */
  @Test
  void aGuestHasManySessions() throws Exception {
    int sessions = 9;
    Programs.build(folder, List.of("loop"));
    SoftwareServer server = SoftwareServer.start(folder, "tcp://127.0.0.1:0");
    List<Process> programs = new ArrayList<>();
    try {
      for (int i = 0; i < sessions; i++) {
        Process program = loop(server);
        programs.add(program);
        BufferedReader out = program.inputReader();
        assertThat(List.of(out.readLine(), out.readLine()))
            .as("session %d", i + 1)
            .containsExactly("cuInit 0", "looping");
      }
    } finally {
      programs.forEach(Process::destroyForcibly);
      server.stop();
    }
  }

  private Process loop(SoftwareServer server, String... arguments) throws Exception {
    List<String> words = new ArrayList<>(List.of(folder.resolve("loop").toString()));
    words.addAll(List.of(arguments));
    List<String> command =
        SoftwareServer.command(
            folder, server.over("rdma"), SoftwareServer.NAME, SoftwareServer.TOKEN, words);
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private void ip(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    Finished ip = Finished.run(folder, System.getenv(), command);
    assertThat(ip.code()).as("%s", ip).isZero();
  }
}
