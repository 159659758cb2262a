package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One program uses the devices of two servers ({@code src/test/c/servers.c} is the program). Each
 * server has a token of its own.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class TwoServersTest {
  private static final String GROUPS =
      "devices addresses code copies rows order elsewhere host virtual";

  @TempDir static Path built;
  @TempDir Path folder;
  private final List<SoftwareServer> servers = new ArrayList<>();

  @BeforeAll
  static void buildThePrograms() throws Exception {
    Programs.build(built, List.of("servers", "devices", "environment"));
  }

  @BeforeEach
  void serve() throws Exception {
    Files.createDirectory(folder.resolve("first"));
    Files.createDirectory(folder.resolve("second"));
    servers.add(SoftwareServer.forAllChannels(folder.resolve("first")));
    servers.add(second(List.of("--peer", servers.get(0).address())));
  }

  /** Starts the second server with these options. */
  private SoftwareServer second(List<String> options) throws IOException {
    Path its = folder.resolve("second");
    return SoftwareServer.start(
        its, Map.of(), options, "tcp://127.0.0.1:0", "unix://" + its.resolve("socket"));
  }

  /** Starts the second server again. */
  private void restart(List<String> options) throws Exception {
    servers.remove(1).stop();
    servers.add(second(options));
  }

  @AfterEach
  void stop() throws Exception {
    for (SoftwareServer server : servers) {
      server.stop();
    }
  }

  /** The environment of a program that uses both servers over a channel. */
  private Map<String, String> environment(String channel) throws IOException {
    List<Map<String, String>> each = new ArrayList<>();
    for (SoftwareServer server : servers) {
      each.add(server.environment(server.over(channel)));
    }
    Map<String, String> both = new HashMap<>(each.get(0));
    for (String list : List.of("GRAFT_SERVER", "GRAFT_TOKEN_FILE")) {
      both.put(list, each.get(0).get(list) + "; " + each.get(1).get(list));
    }
    return both;
  }

  private Finished run(String channel, Map<String, String> variables, String... command)
      throws Exception {
    Map<String, String> environment = environment(channel);
    environment.putAll(variables);
    List<String> words = new ArrayList<>(List.of(command));
    words.set(0, built.resolve(words.get(0)).toString());
    return Finished.run(folder, environment, words);
  }

  /** Copies between the servers go from one to the other, if it is a peer, or by the program. */
  @ParameterizedTest(name = "over {0}, copies over {1}")
  @CsvSource({"shm, unix", "unix, program", "tcp, tcp"})
  void aProgramUsesBothServers(String channel, String way) throws Exception {
    boolean isDirect = !way.equals("program");
    if (!way.equals("tcp")) {
      restart(isDirect ? List.of("--peer", servers.get(0).over(way)) : List.of());
    }
    List<String> command = new ArrayList<>(List.of("servers"));
    command.addAll(List.of(GROUPS.split(" ")));
    Finished program = run(channel, Map.of("GRAFT_DEBUG", "1"), command.toArray(String[]::new));
    assertThat(program.err())
        .contains("go " + (isDirect ? "from server to server" : "through this process"));
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).isEqualTo(GROUPS.replace(" ", ": ok\n") + ": ok\n");
  }

  /** The same program as on two devices of one server. */
  @Test
  void aLibraryServesBoth() throws Exception {
    Finished program = run("shm", Map.of(), "devices");
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).contains("device 0: 40", "device 1: 41", "copied: 41");
  }

  @Test
  void theListOfVisibleDevicesCountsOverTheServers() throws Exception {
    String variable = "CUDA_VISIBLE_DEVICES";
    assertThat(run("unix", Map.of(), "environment", "devices").out()).isEqualTo("devices 0 0\n");
    assertThat(run("unix", Map.of(variable, "1"), "environment", "devices").out())
        .isEqualTo("devices 0\n");
    assertThat(run("unix", Map.of(variable, "2"), "environment", "devices").out())
        .isEqualTo("cuInit 100\n");
    Finished pools = run("unix", Map.of(variable, "1,0"), "environment", "memory");
    assertThat(pools.out()).contains("memory of device 0", "pool's access 3");
  }

  @Test
  void aServerThatCannotBeReachedLeavesTheOthersDevices() throws Exception {
    servers.get(0).stop();
    Finished program = run("unix", Map.of(), "environment", "devices");
    assertThat(program.out()).isEqualTo("devices 0\n");
    assertThat(program.err()).contains("graft: ").contains("first");
    Finished pools = run("unix", Map.of(), "environment", "memory");
    assertThat(pools.out()).contains("memory of device 0", "pool's access 3");
  }

  @ParameterizedTest(name = "server {0}")
  @ValueSource(ints = {0, 1})
  void theOtherServerGoesOnWhenOneIsLost(int lost) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(built.resolve("servers").toString(), "loss")
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().putAll(environment("tcp"));
    Process program = builder.start();
    BufferedReader out = program.inputReader();
    assertThat(out.readLine()).isEqualTo("ready");
    servers.get(lost).killSessions();
    program.outputWriter().append(lost + "\n").close();
    assertThat(out.readLine()).isEqualTo("loss: ok");
    assertThat(program.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(program.exitValue()).isZero();
  }

  @Test
  void graftRunTakesSeveralServers() throws Exception {
    List<String> words = new ArrayList<>(List.of(SoftwareServer.GRAFT, "run"));
    for (SoftwareServer server : servers) {
      words.addAll(List.of("--server", server.over("shm")));
      words.addAll(List.of("--token-file", server.environment("").get("GRAFT_TOKEN_FILE")));
    }
    words.addAll(List.of("--name", SoftwareServer.NAME, "--"));
    words.addAll(List.of(built.resolve("servers").toString(), "addresses"));
    Finished program = Finished.run(folder, System.getenv(), words);
    assertThat(program.code()).as("%s", program).isZero();
    words.add(2, "--name=another");
    words.add(2, "--name=third");
    assertThat(Finished.run(folder, System.getenv(), words).err())
        .contains("--name is given 3 times for 2 servers");
  }

  @Test
  void settingsOfAnotherNumberOfServersAreRefused() throws Exception {
    Map<String, String> three = Map.of("GRAFT_NAME", "me; me; me");
    Finished program = run("unix", three, "environment", "devices");
    assertThat(program.out()).isEqualTo("cuInit 100\n");
    assertThat(program.err()).contains("'name' has 3 items for 2 servers");
  }
}
