package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.json.Json;
import graft.common.program.CurrentUser;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * A deployment over three hosts: an SSH server of this machine with a port and a state folder for
 * each. Two hosts have a GPU each, and a machine of the third uses both.
 */
@Tag("integration")
@Timeout(300)
@ResourceLock(UnprivilegedServerTest.USER)
class ManyHostsTest {
  private static final Path SSHD = Path.of("/usr/sbin/sshd");
  private static final Path MAKE =
      Checkout.ROOT.resolve("provisioner/cli/src/test/resources/make-machine");
  private static final List<String> HOSTS = List.of("one", "two", "three");
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Each host finds the programs there that the first test has brought. */
  @TempDir static Path programs;

  @TempDir Path folder;
  private final List<Integer> ports = new ArrayList<>();
  private Process server;
  private Path lab;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(CurrentUser.isRoot(), "only root can enter another root folder");
    assumeTrue(Files.isExecutable(SSHD), "no openssh-server here");
    for (int i = 0; i <= HOSTS.size() + 2; i++) { // the machine's, the hosts', the servers'
      try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        ports.add(socket.getLocalPort());
      }
    }
    Finished made =
        Finished.run(
            folder,
            Map.of("PATH", System.getenv("PATH")),
            List.of(MAKE.toString(), folder.toString(), String.valueOf(ports.get(0))));
    assertThat(made.code()).as(made.err()).isZero();
    StringBuilder sshd = new StringBuilder(Files.readString(folder.resolve("sshd.conf")));
    String machine = sshd.substring(sshd.indexOf("ForceCommand")).strip();
    sshd.delete(sshd.indexOf("ForceCommand"), sshd.length());
    sshd.append("MaxStartups 100\n");
    StringBuilder known = new StringBuilder(Files.readString(folder.resolve("known-hosts")));
    String line = known.toString();
    for (int i = 0; i < HOSTS.size(); i++) {
      sshd.append("Port ").append(ports.get(i + 1)).append('\n');
      known.append(line.replace(":" + ports.get(0), ":" + ports.get(i + 1)));
    }
    sshd.append("Match LocalPort ").append(ports.get(0)).append("\n  ").append(machine);
    for (int i = 0; i < HOSTS.size(); i++) {
      Path own = Files.createDirectory(folder.resolve(HOSTS.get(i)));
      enter(HOSTS.get(i), "exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"");
      sshd.append("\nMatch LocalPort ").append(ports.get(i + 1));
      sshd.append("\n  ForceCommand ").append(own.resolve("enter")).append('\n');
    }
    Files.writeString(folder.resolve("sshd.conf"), sshd);
    Files.writeString(folder.resolve("known-hosts"), known);
    lab = descriptor("stop", ports.get(2));
    server =
        new ProcessBuilder(SSHD.toString(), "-D", "-e", "-f", folder + "/sshd.conf")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("sshd.log").toFile())
            .start();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!listens()) {
      assertThat(server.isAlive() && System.nanoTime() < deadline).as("sshd starts").isTrue();
      Thread.onSpinWait();
    }
  }

  /** What a session of a host runs. */
  private void enter(String host, String script) throws IOException {
    Path enter = folder.resolve(host).resolve("enter");
    Files.writeString(
        enter,
        "#!/bin/sh\nexport GRAFT_STATE_DIR="
            + state(host)
            + " PATH="
            + System.getenv("PATH")
            + "\n"
            + script
            + "\n");
    Files.setPosixFilePermissions(enter, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Path state(String host) {
    return folder.resolve(host).resolve("state");
  }

  private Path descriptor(String policy, int portOfTwo) throws IOException {
    String login = "key: %s/key, known-hosts: %s/known-hosts".formatted(folder, folder);
    return Files.writeString(
        folder.resolve("cluster.yaml"),
        """
        graft: 1
        on-failure: %s
        hosts:
        - {name: one, ssh: root@127.0.0.1, port: %d, %s, folder: %s}
        - {name: two, ssh: root@127.0.0.1, port: %d, %s, folder: %s}
        - {name: three, ssh: root@127.0.0.1, port: %d, %s, folder: %s}
        gpus:
        - {name: gpu-a, host: one, device: software, server: {port: %d}}
        - {name: gpu-b, host: two, device: software, server: {port: %d}}
        guests:
        - name: vm
          host: three
          existing: {ssh: root@127.0.0.1, port: %d, %s}
          vgpu: [gpu-a, gpu-b]
        """
            .formatted(
                policy,
                ports.get(1),
                login,
                programs,
                portOfTwo,
                login,
                programs,
                ports.get(3),
                login,
                programs,
                ports.get(4),
                ports.get(5),
                ports.get(0),
                login));
  }

  private boolean listens() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports.get(3))) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  @AfterEach
  void stop() throws Exception {
    if (server != null) {
      for (String host : HOSTS) { // whatever a failed test has left
        if (Files.exists(state(host).resolve("cluster"))) {
          run(state(host), "destroy", "cluster");
        }
      }
      server.destroy();
      server.waitFor();
    }
  }

  private Finished run(Path state, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME + "/bin/graft"));
    command.addAll(List.of(arguments));
    Map<String, String> environment =
        Map.of("PATH", System.getenv("PATH"), "GRAFT_STATE_DIR", state.toString());
    return Finished.run(folder, environment, command, Duration.ofMinutes(3));
  }

  private Finished graft(String... arguments) throws Exception {
    return run(folder.resolve("operator"), arguments);
  }

  private String said(String... arguments) throws Exception {
    Finished finished = graft(arguments);
    assertThat(finished.code()).as(finished.out() + finished.err()).isZero();
    return finished.out();
  }

  private List<String> left(String folderOfStates) throws IOException {
    Path path = folder.resolve(folderOfStates);
    if (!Files.exists(path)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(path)) {
      return all.filter(Files::isRegularFile).map(file -> file.getFileName().toString()).toList();
    }
  }

  @Test
  void aProgramRunsOnTheGpusOfTwoHosts() throws Exception {
    Finished plan = graft("plan", lab.toString());
    assertThat(plan.code()).as(plan.out() + plan.err()).isZero();
    assertThat(plan.out())
        .contains("one: ", "two: ", "three: ", "grant it access to 'gpu-a'", "steps on 3 hosts");
    try (Stream<Path> brought = Files.list(programs)) {
      assertThat(brought).singleElement().satisfies(one -> assertThat(one).isDirectory());
    }
    assertThat(state("one").resolve("cluster/journal.jsonl")).doesNotExist();
    Finished applied = graft("apply", "--output", "json", lab.toString());
    assertThat(applied.code()).as(applied.out() + applied.err()).isZero();
    assertThat(applied.err()).contains("three: guest vm: ").doesNotContain("bring Graft");
    Map<String, Object> record =
        Json.readObject(Files.readString(folder.resolve("operator/.operated/cluster/hosts.json")));
    Map<?, ?> tokens = (Map<?, ?>) record.get("tokens");
    assertThat(tokens).hasSize(2);
    for (Object token : tokens.values()) {
      assertThat(plan.out() + plan.err() + applied.out() + applied.err())
          .doesNotContain((String) token);
      assertThat(Files.readString(folder.resolve("sshd.log"))).doesNotContain((String) token);
    }
    try (Stream<Path> files = Files.list(state("one").resolve(".hosts/cluster"))) {
      assertThat(files)
          .allSatisfy(
              file ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                      .isEqualTo("rw-------"));
    }
    String status = said("status", lab.toString());
    assertThat(status).contains("gpu-a running", "gpu-b running", "vm existing");
    assertThat(run(state("three"), "status", "cluster").out())
        .containsPattern("CUDA ok on Graft software device 0 by tcp\\S+; Graft software device 0");
    assertThat(said("apply", lab.toString())).contains("one: nothing to do", "cluster: applied");
    said("undo", "cluster");
    assertThat(left("operator")).doesNotContain("hosts.json");
    for (String host : HOSTS) {
      assertThat(left(host + "/state")).noneMatch(file -> file.endsWith(".token"));
      assertThat(state(host).resolve("cluster")).doesNotExist();
    }
  }

  @Test
  void aHostThatIsKilledGoesOnWithTheNextApply() throws Exception {
    enter(
        "two",
        """
        exec 3<&0
        setsid /bin/sh -c "$SSH_ORIGINAL_COMMAND" <&3 & program=$!
        until grep -q '"begin"' "$GRAFT_STATE_DIR/cluster/journal.jsonl" 2>/dev/null; do
          kill -0 $program 2>/dev/null || { wait $program; exit $?; }
          sleep 0.02
        done
        kill -9 -$program
        exit 137""");
    Finished killed = graft("apply", lab.toString());
    assertThat(killed.code()).as(killed.out() + killed.err()).isEqualTo(5);
    assertThat(killed.out()).contains("two: ", "three: not begun, since 'two' failed");
    assertThat(state("two").resolve("cluster/journal.jsonl")).content().contains("\"begin\"");
    enter("two", "exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"");
    Finished status = graft("status", lab.toString());
    assertThat(status.code()).isEqualTo(7);
    assertThat(said("apply", lab.toString())).contains("cluster: applied");
    assertThat(said("status", lab.toString())).contains("vm existing");
    said("destroy", "cluster");
    assertThat(left("operator")).doesNotContain("hosts.json");
  }

  @Test
  void aHostWhoseConnectionIsLostIsNamedWithoutAllThatItSaid() throws Exception {
    enter(
        "two",
        """
        echo '{"graft":"x","millis":1}'
        echo 'the first step' >&2
        echo 'the second step' >&2
        exit 255"""); // as ssh ends where its connection is lost
    Finished plan = graft("plan", lab.toString());
    assertThat(plan.out())
        .contains("two: NOT REACHED: the connection was lost while its Graft worked, after '")
        .contains("graft status says what the host has")
        .doesNotContain("the first step");
  }

  @Test
  void hostsThatAnswerNothingOrNonsenseAreNamed() throws Exception {
    descriptor("leave", ports.get(5));
    enter("three", "printf '\\033]0;owned\\007{}\\n{}'; printf '\\033[31mred\\n' >&2");
    Finished applied = graft("apply", lab.toString());
    assertThat(applied.code()).isEqualTo(5);
    assertThat(applied.out())
        .contains("one: applied", "two: NOT REACHED: ssh root@127.0.0.1: ")
        .contains("three: not begun, since 'two' failed");
    Finished status = graft("status", lab.toString());
    assertThat(status.code()).isEqualTo(7);
    assertThat(status.out() + status.err())
        .contains("its first line is not Graft's", "\\u001b[31mred")
        .doesNotContain("\u001b");
    assertThat(status.out()).containsPattern("two +NOT REACHED +unknown");
  }
}
