package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * A deployment over three hosts: an SSH server of this machine with a port and a state folder for
 * each. Two hosts have a GPU each, and a machine of the third uses both.
 */
@Tag("integration")
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
@ResourceLock(UnprivilegedServerTest.USER)
class ManyHostsTest {
  private static final List<String> HOSTS = List.of("one", "two", "three");

  /** Each host finds the programs there that the first test has brought. */
  @TempDir static Path programs;

  @TempDir Path folder;
  private SshHosts hosts;
  private List<Integer> gpuPorts;
  private Path lab;

  @BeforeEach
  void start() throws Exception {
    hosts = new SshHosts(folder, "cluster", HOSTS.toArray(String[]::new));
    gpuPorts = List.of(SshHosts.freePort(), SshHosts.freePort());
    lab = descriptor("stop", hosts.port("two"));
  }

  private Path descriptor(String policy, int portOfTwo) throws IOException {
    String key = "key: " + folder.resolve("key");
    return Files.writeString(
        folder.resolve("cluster.yaml"),
        """
        graft: 1
        on-failure: %s
        hosts:
        - {name: one, ssh: root@127.0.0.1, port: %d, %s, known-hosts: %s, folder: %s}
        - {name: two, ssh: root@127.0.0.1, port: %d, %s, known-hosts: %s, folder: %s}
        - {name: three, ssh: root@127.0.0.1, port: %d, %s, known-hosts: %s, folder: %s}
        gpus:
        - {name: gpu-a, host: one, device: software, server: {port: %d}}
        - {name: gpu-b, host: two, device: software, server: {port: %d}}
        guests:
        - name: vm
          host: three
          existing: {ssh: root@127.0.0.1, port: %d, %s, known-hosts: %s/known-hosts}
          vgpu: [gpu-a, gpu-b]
        """
            .formatted(
                policy,
                hosts.port("one"),
                key,
                hosts.known("one"),
                programs,
                portOfTwo,
                key,
                hosts.known("two"),
                programs,
                hosts.port("three"),
                key,
                hosts.known("three"),
                programs,
                gpuPorts.get(0),
                gpuPorts.get(1),
                hosts.machinePort(),
                key,
                folder));
  }

  @AfterEach
  void stop() throws Exception {
    if (hosts != null) {
      hosts.end();
    }
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
    Finished plan = hosts.run("plan", lab.toString());
    assertThat(plan.code()).as(plan.out() + plan.err()).isZero();
    assertThat(plan.out())
        .contains("one: ", "two: ", "three: ", "grant it access to 'gpu-a'", "steps on 3 hosts");
    try (Stream<Path> brought = Files.list(programs)) {
      assertThat(brought).singleElement().satisfies(one -> assertThat(one).isDirectory());
    }
    assertThat(hosts.state("one").resolve("cluster/journal.jsonl")).doesNotExist();
    Finished applied = hosts.run("apply", "--output", "json", lab.toString());
    assertThat(applied.code()).as(applied.out() + applied.err()).isZero();
    assertThat(applied.err()).contains("three: guest vm: ").doesNotContain("bring Graft");
    Map<String, Object> record = Json.readObject(Files.readString(hosts.record()));
    Map<?, ?> tokens = (Map<?, ?>) record.get("tokens");
    assertThat(tokens).hasSize(2);
    for (Object token : tokens.values()) {
      assertThat(plan.out() + plan.err() + applied.out() + applied.err())
          .doesNotContain((String) token);
      assertThat(Files.readString(folder.resolve("sshd.log"))).doesNotContain((String) token);
    }
    try (Stream<Path> files = Files.list(hosts.state("one").resolve(".hosts/cluster"))) {
      assertThat(files)
          .allSatisfy(
              file ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                      .isEqualTo("rw-------"));
    }
    String status = hosts.said("status", lab.toString());
    assertThat(status).contains("gpu-a running", "gpu-b running", "vm existing");
    assertThat(hosts.runOn("three", "status", "cluster").out())
        .containsPattern("CUDA ok on Graft software device 0 by tcp\\S+; Graft software device 0");
    assertThat(hosts.said("apply", lab.toString()))
        .contains("one: nothing to do", "cluster: applied");
    hosts.said("undo", "cluster");
    assertThat(left("operator")).doesNotContain("hosts.json");
    for (String host : HOSTS) {
      assertThat(left(host + "/state")).noneMatch(file -> file.endsWith(".token"));
      assertThat(hosts.state(host).resolve("cluster")).doesNotExist();
    }
  }

  @Test
  @WithLongTests
  void aHostThatIsKilledGoesOnWithTheNextApply() throws Exception {
    hosts.enter(
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
    Finished killed = hosts.run("apply", lab.toString());
    assertThat(killed.code()).as(killed.out() + killed.err()).isEqualTo(5);
    assertThat(killed.out()).contains("two: ", "three: not begun, since 'two' failed");
    assertThat(hosts.state("two").resolve("cluster/journal.jsonl")).content().contains("\"begin\"");
    hosts.enter("two", SshHosts.WORKS);
    Finished status = hosts.run("status", lab.toString());
    assertThat(status.code()).isEqualTo(7);
    assertThat(hosts.said("apply", lab.toString())).contains("cluster: applied");
    assertThat(hosts.said("status", lab.toString())).contains("vm existing");
    assertThat(hosts.said("plan", lab.toString())).doesNotContain("when it was applied");
    descriptor("stop", gpuPorts.get(1));
    assertThat(hosts.run("plan", lab.toString()).out())
        .contains(
            "warning: two was at 127.0.0.1 port "
                + hosts.port("two")
                + " when it was applied; if that is another machine, ");
    descriptor("stop", hosts.port("two"));
    hosts.said("destroy", "cluster");
    assertThat(left("operator")).doesNotContain("hosts.json");
  }

  @Test
  void aHostWhoseConnectionIsLostIsNamedWithoutAllThatItSaid() throws Exception {
    hosts.enter(
        "two",
        """
        echo '{"graft":"x","millis":1}'
        echo 'the first step' >&2
        echo 'the second step' >&2
        exit 255"""); // as ssh ends where its connection is lost
    Finished plan = hosts.run("plan", lab.toString());
    assertThat(plan.out())
        .as("%s", plan)
        .contains("two: NOT REACHED: the connection was lost while its Graft worked, after '")
        .contains("graft status says what the host has")
        .doesNotContain("the first step");
  }

  @Test
  void hostsThatAnswerNothingOrNonsenseAreNamed() throws Exception {
    descriptor("leave", gpuPorts.get(1));
    hosts.enter("three", "printf '\\033]0;owned\\007{}\\n{}'; printf '\\033[31mred\\n' >&2");
    Finished applied = hosts.run("apply", lab.toString());
    assertThat(applied.code()).isEqualTo(5);
    assertThat(applied.out())
        .contains("one: applied", "two: NOT REACHED: ssh root@127.0.0.1: ")
        .contains("three: not begun, since 'two' failed");
    Finished status = hosts.run("status", lab.toString());
    assertThat(status.code()).isEqualTo(7);
    assertThat(status.out() + status.err())
        .contains("its first line is not Graft's", "\\u001b[31mred")
        .doesNotContain("\u001b");
    assertThat(status.out()).containsPattern("two +NOT REACHED +unknown");
  }
}
