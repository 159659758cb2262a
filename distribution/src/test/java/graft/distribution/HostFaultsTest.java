package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
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

/** Full disks, keys that are refused, and an operator's machine that is killed. */
@Tag("integration")
@Timeout(300)
@WithLongTests
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
@ResourceLock(UnprivilegedServerTest.USER)
class HostFaultsTest {
  /** Each host finds the programs there that the first test has brought. */
  @TempDir static Path programs;

  @TempDir Path folder;
  private SshHosts hosts;
  private int gpuPort;

  @BeforeEach
  void start() throws Exception {
    hosts = new SshHosts(folder, "cluster", "one", "two");
    gpuPort = SshHosts.freePort();
  }

  @AfterEach
  void stop() throws Exception {
    if (hosts != null) {
      hosts.end();
    }
  }

  private String descriptor(String policy) throws IOException {
    return descriptor(policy, "key", "key");
  }

  private String descriptor(String policy, String keyOfOne, String keyOfTwo) throws IOException {
    return descriptor(policy, List.of(keyOfOne, keyOfTwo), List.of(programs, programs));
  }

  /**
   * Writes the descriptor: the first host has a GPU, and the machine that the second one sets up
   * uses it.
   *
   * @param keys the files with the key for each host
   * @param folders where each host has its programs
   */
  private String descriptor(String policy, List<String> keys, List<Path> folders)
      throws IOException {
    Path file = folder.resolve("cluster.yaml");
    Files.writeString(
        file,
        """
        graft: 1
        on-failure: %1$s
        hosts:
        - {name: one, ssh: root@127.0.0.1, port: %4$d, key: %2$s/%3$s, known-hosts: %2$s/known-one, folder: %9$s}
        - {name: two, ssh: root@127.0.0.1, port: %5$d, key: %2$s/%8$s, known-hosts: %2$s/known-two, folder: %10$s}
        gpus:
        - {name: gpu-a, host: one, device: software, server: {port: %6$d}}
        guests:
        - name: vm
          host: two
          existing: {ssh: root@127.0.0.1, port: %7$d, key: %2$s/key, known-hosts: %2$s/known-hosts}
          vgpu: gpu-a
          ready: {verify: false}
        """
            .formatted(
                policy,
                folder,
                keys.get(0),
                hosts.port("one"),
                hosts.port("two"),
                gpuPort,
                hosts.machinePort(),
                keys.get(1),
                folders.get(0),
                folders.get(1)));
    return file.toString();
  }

  private void assertNothingLeft() {
    for (String host : List.of("one", "two")) {
      assertThat(hosts.state(host).resolve("cluster")).doesNotExist();
      assertThat(hosts.state(host).resolve(".hosts/cluster")).doesNotExist();
    }
    assertThat(hosts.record()).doesNotExist();
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.toList();
    }
  }

  @Test
  void programsThatAreNotBroughtWholeLeaveNothing() throws Exception {
    Path small = folder.resolve("small");
    hosts.mount(small, "16m");
    String lab = descriptor("leave", List.of("key", "key"), List.of(programs, small));
    hosts.enter(
        "two",
        """
        case $SSH_ORIGINAL_COMMAND in
          *mktemp*) ;;
          *) exec /bin/sh -c "$SSH_ORIGINAL_COMMAND" ;;
        esac
        { dd bs=4k count=64 iflag=fullblock 2>/dev/null; touch %1$s/reached
          until [ -e %1$s/killed ]; do sleep 0.02; done; cat; } | /bin/sh -c "$SSH_ORIGINAL_COMMAND"
        touch %1$s/ended"""
            .formatted(folder));
    killed("plan", lab);
    SshHosts.until(() -> Files.exists(folder.resolve("ended")));
    assertThat(small).isEmptyDirectory();
    hosts.enter("two", SshHosts.WORKS);
    assertThat(hosts.ends(4, "plan", lab))
        .contains("two: FAILED: the disk of " + small + " is full: Graft needs ")
        .contains("16MiB are free", "write another 'folder' for the host");
    assertThat(small).isEmptyDirectory();
    assertThat(hosts.ends(5, "apply", lab)).contains("one: applied", "two: FAILED: the disk of ");
    assertThat(hosts.ends(7, "status", lab)).contains("gpu-a running", "two   FAILED");
    hosts.resize(small, "300m");
    assertThat(hosts.ends(0, "apply", lab)).contains("one: nothing to do", "two: applied");
    assertThat(list(small)).hasSize(1);
    hosts.ends(0, "destroy", "cluster");
    assertNothingLeft();
  }

  @Test
  void aHostWhoseDiskGetsFullUndoesItsSteps() throws Exception {
    Path state = hosts.state("one");
    String lab = descriptor("stop");
    hosts.mount(state, "1m");
    Path filler = SshHosts.fill(state);
    assertThat(hosts.ends(1, "plan", lab))
        .contains("one: FAILED: cannot write to ", "No space left on device, 0B are free");
    leave(filler, 64);
    assertThat(hosts.ends(1, "apply", lab))
        .contains("one: FAILED: cannot write the journal ", "No space left", "two: not begun");
    assertThat(hosts.journal("one")).isEmptyFile();
    Path reserve = state.resolve("cluster/journal.jsonl.reserve");
    for (int room : List.of(4, 0)) {
      SshHosts.fill(state);
      leave(filler, (Files.exists(reserve) ? 0 : 256) + room);
      assertThat(hosts.ends(1, "apply", lab))
          .contains("one: FAILED: ", "space", "everything that this run did has been undone")
          .contains("two: not begun");
      assertThat(hosts.journal("one")).content().endsWith("\"outcome\":\"undone\"}\n");
    }
    assertThat(hosts.ends(7, "status", lab)).contains("one   not applied  differs");
    Files.delete(filler);
    assertThat(hosts.ends(0, "apply", lab)).contains("one: applied", "two: applied");
    operatorsDisk(lab);
    SshHosts.fill(state);
    hosts.ends(0, "status", lab);
    hosts.ends(0, "destroy", "cluster");
    Files.delete(filler);
    assertNothingLeft();
  }

  /** Gives back some KiB of a file that fills a disk. */
  private static void leave(Path filler, int room) throws IOException {
    try (FileChannel file = FileChannel.open(filler, StandardOpenOption.WRITE)) {
      file.truncate(file.size() - (room << 10));
    }
  }

  /** The operator's own disk is full. */
  private void operatorsDisk(String lab) throws Exception {
    String record = Files.readString(hosts.record());
    Path moved = folder.resolve("moved");
    Files.move(hosts.operator(), moved);
    hosts.mount(hosts.operator(), "64k");
    Path all = folder.resolve("operator/.operated/cluster");
    Files.createDirectories(all);
    Files.copy(moved.resolve(".operated/cluster/hosts.json"), hosts.record());
    Path filler = SshHosts.fill(hosts.operator());
    assertThat(hosts.ends(1, "apply", lab)).contains("cannot lock ");
    Files.delete(filler);
    Files.writeString(all.resolve("lock"), "1");
    SshHosts.fill(hosts.operator());
    String before = Files.readString(hosts.journal("one"));
    assertThat(hosts.ends(1, "apply", lab))
        .contains("hosts.json: No space left on device", "no host was changed; free some space");
    assertThat(Files.readString(hosts.journal("one"))).isEqualTo(before);
    assertThat(hosts.record()).content().isEqualTo(record);
    assertThat(list(all)).hasSize(2);
    hosts.ends(0, "status", lab);
    Files.delete(filler);
    hosts.enter("two", "cat /dev/zero >" + filler + " 2>/dev/null\n" + SshHosts.WORKS);
    assertThat(hosts.ends(1, "apply", lab))
        .contains("the hosts were changed, as graft status says");
    hosts.enter("two", SshHosts.WORKS);
    Files.delete(filler);
    hosts.ends(0, "apply", lab);
  }

  @Test
  void aHostThatRefusesTheKeyIsNamedAndNothingIsAsked() throws Exception {
    String lab = descriptor("leave", "key", "other-key");
    assertThat(hosts.ends(4, "plan", lab))
        .contains(
            "one: ",
            "two: FAILED: ssh root@127.0.0.1: root@127.0.0.1: Permission denied (publickey")
        .contains("let root@127.0.0.1 log in with the key " + folder + "/other-key that was tried")
        .contains("ssh-copy-id -i " + folder + "/other-key -p ");
    assertThat(hosts.ends(7, "status", lab)).contains("Permission denied (publickey");
    lab = descriptor("leave", "other-key", "key");
    assertThat(hosts.ends(4, "apply", lab))
        .contains("one: FAILED: ssh root@", "two: not begun, since 'one' failed");
    assertThat(hosts.state("two")).doesNotExist();
    Files.writeString(hosts.known("one"), "");
    assertThat(hosts.ends(4, "plan", descriptor("leave")))
        .contains("one: FAILED: ", "Host key verification failed", "ssh-keyscan -p ");
    hosts.know("one", "other-key");
    assertThat(hosts.ends(4, "plan", descriptor("leave")))
        .contains(
            "one: FAILED: ", "HOST IDENTIFICATION HAS CHANGED", "ssh-keygen -R '[127.0.0.1]:");
    hosts.know("one", "host-key");
    assertThat(hosts.ends(4, "plan", descriptor("leave", "absent", "key")))
        .contains("one: FAILED: ", folder + "/absent");
    hosts.ends(0, "destroy", descriptor("leave"));
    assertNothingLeft();
  }

  /** Starts the operator's Graft, and kills it and its ssh when a host has reached a point. */
  private void killed(String... arguments) throws Exception {
    Process graft = hosts.start(arguments);
    SshHosts.until(() -> Files.exists(folder.resolve("reached")) || !graft.isAlive());
    assertThat(graft.isAlive()).as(Files.readString(folder.resolve("operator.log"))).isTrue();
    List<ProcessHandle> all = graft.descendants().toList();
    assertThat(all).as("ssh").isNotEmpty();
    graft.destroyForcibly().waitFor();
    all.forEach(ProcessHandle::destroyForcibly);
    Files.createFile(folder.resolve("killed"));
  }

  @Test
  void anOperatorThatIsKilledBeforeAHostBeginsLeavesNothing() throws Exception {
    String lab = descriptor("stop");
    hosts.ends(0, "plan", lab);
    hosts.enter(
        "one",
        """
        touch %1$s/reached
        until [ -e %1$s/killed ]; do sleep 0.02; done"""
            .formatted(folder));
    killed("apply", lab);
    hosts.enter("one", SshHosts.WORKS);
    assertThat(hosts.record()).content().contains("\"open\" : true");
    assertThat(hosts.ends(7, "status", lab)).contains("one", "two");
    assertThat(hosts.ends(0, "undo", "cluster")).contains("one: nothing to undo");
    assertNothingLeft();
  }

  @Test
  void anOperatorThatIsKilledWhileAHostWorksFindsItDone() throws Exception {
    String lab = descriptor("stop");
    hosts.enter(
        "one",
        """
        exec 3<&0
        /bin/sh -c "$SSH_ORIGINAL_COMMAND" <&3 & program=$!
        until grep -q '"begin"' "$GRAFT_STATE_DIR/cluster/journal.jsonl" 2>/dev/null; do
          kill -0 $program 2>/dev/null || { wait $program; exit $?; }
          sleep 0.02
        done
        touch %1$s/reached
        wait $program
        touch %1$s/ended"""
            .formatted(folder));
    killed("apply", lab);
    hosts.enter("one", SshHosts.WORKS);
    SshHosts.until(() -> Files.exists(folder.resolve("ended")));
    assertThat(hosts.journal("one")).content().contains("\"applied\"");
    assertThat(hosts.ends(7, "status", lab)).contains("gpu-a running");
    assertThat(hosts.ends(0, "apply", lab)).contains("one: nothing to do", "two: applied");
    hosts.ends(0, "undo", "cluster");
    assertNothingLeft();
  }

  @Test
  void anOperatorThatIsKilledBeforeItHearsTheEndGoesOnAndLeavesNothing() throws Exception {
    String lab = descriptor("stop");
    hosts.enter(
        "two",
        """
        /bin/sh -c "$SSH_ORIGINAL_COMMAND"
        touch %1$s/reached
        until [ -e %1$s/killed ]; do sleep 0.02; done"""
            .formatted(folder));
    killed("apply", lab);
    hosts.enter("two", SshHosts.WORKS);
    assertThat(hosts.ends(0, "status", lab)).contains("gpu-a running", "vm existing");
    assertThat(hosts.ends(0, "apply", lab)).contains("one: nothing to do", "two: nothing to do");
    assertThat(hosts.record()).content().contains("\"open\" : false");
    hosts.ends(0, "undo", "cluster");
    assertNothingLeft();
  }
}
