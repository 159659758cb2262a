package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import graft.deployment.state.ServerProcess;
import graft.deployment.state.ServerUser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real guests through a real libvirt daemon, from plan to destroy. */
@Tag("integration")
class GuestsIntegrationTest {
  private static final String SETUP = RealHost.unique("provtest-guests");
  private static final String ONE = RealHost.unique("provtest-one");
  private static final String TWO = RealHost.unique("provtest-two");

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;

  @BeforeEach
  void start() throws Exception {
    graft = new GraftProcess(folder);
    Files.writeString(folder.resolve("program"), "#!/bin/sh\necho it runs as $(id -u)\n");
  }

  @AfterEach
  void sweep() throws Exception {
    if (Files.exists(graft.state(SETUP))) {
      graft.run("destroy", SETUP);
    }
    RealHost.sweep(ONE, TWO);
  }

  @Test
  void twoGuestsSideBySideAndAllGoneAfterwards() throws Exception {
    String lab = descriptor("256MiB");
    assertThat(graft.run("plan", lab).as(0).out()).contains("guest " + TWO);
    assertThat(graft.onTerminal("no\n", "apply", lab).as(1).out())
        .contains("+ ", "Do this? [y/N] ", "graft apply was declined, and nothing was changed");
    assertThat(graft.run("status", lab).as(7).out()).contains("not applied");
    graft.onTerminal("y\n", "apply", lab).as(0);

    assertThat(graft.run("apply", lab).as(0).out()).contains("nothing to do");
    assertThat(graft.run("exec", lab, ONE, "--", "/usr/local/bin/program").as(0).out())
        .isEqualTo("it runs as 0\n");
    assertThat(
            graft
                .run(
                    "exec", SETUP, TWO, "--", "/bin/sh", "-c", "hostname; ls -l /etc/graft; exit 7")
                .as(7)
                .out())
        .startsWith(TWO + "\n")
        .containsPattern("-rw-------.* token")
        .containsPattern("-rw-r--r--.* client.conf");
    assertThat(graft.run("exec", SETUP, TWO, "--", "cat", "/etc/graft/client.conf").as(0).out())
        .containsPattern("server = ivshmem://10.0.2.2:([0-9]+), tcp://10.0.2.2:\\1\n")
        .contains("name = " + TWO);
    assertThat(graft.run("exec", SETUP, TWO, "--", "seq", "1", "1300000").as(0).out())
        .as("more than the agent can send at once")
        .hasSize(9_288_896)
        .endsWith("\n1300000\n");
    assertThat(graft.run("exec", "--timeout", "1s", SETUP, ONE, "--", "sleep", "99").as(125).err())
        .contains("did not end within 1.0 s, and was killed");
    assertSecretsArePrivate();
    assertThat(graft.run("exec", SETUP, ONE, "--", "ls", "/etc/graft/boot.d").as(0).out())
        .contains("10-shared-memory");
    String shared = "ls -l /sys/bus/pci/devices/*/resource2";
    assertThat(graft.run("exec", SETUP, ONE, "--", "/bin/sh", "-c", shared).as(0).out())
        .as("every user of the guest may map what it shares with the server")
        .containsPattern("-rw-rw-rw-.* 134217728 ");
    assertThat(mode(RealHost.region(SETUP, ONE)))
        .as("where an earlier deployment has made the servers' user, its group may open it too")
        .isEqualTo(ServerUser.find().isPresent() ? "rw-rw----" : "rw-------");

    Map<String, Object> status =
        Json.readObject(graft.run("status", "-o", "json", lab).as(0).out());
    assertThat(status).containsEntry("inSync", true);
    assertThat((List<?>) status.get("guests")).hasSize(2);

    graft.run("destroy", lab).as(0);
    RealHost.assertNothingLeft(graft, SETUP, ONE, TWO);
  }

  @Test
  void stopsAndStartsWhatIsApplied() throws Exception {
    String lab = descriptor("256MiB");
    graft.run("apply", lab).as(0);
    Path pid = graft.state(SETUP).resolve("gpu-gpu0.pid");
    long server = ServerProcess.find(pid).orElseThrow().pid();

    assertThat(graft.run("stop", SETUP, "--timeout", "50s", "--force").as(0).out())
        .contains(ONE + ": stopped", TWO + ": stopped", "gpu0: stopped");
    assertThat(ServerProcess.find(pid)).isEmpty();
    assertThat(graft.run("stop", SETUP).as(0).out()).contains(ONE + ": was off already");
    assertThat(graft.run("status", lab).as(7).out()).contains("start");

    assertThat(graft.run("start", SETUP, "gpu0", ONE).as(0).out())
        .isEqualTo("gpu0: started\n" + ONE + ": started\n");
    assertThat(graft.run("exec", SETUP, ONE, "--", "/usr/local/bin/program").as(0).out())
        .as("a guest without a disk gets its files again")
        .isEqualTo("it runs as 0\n");
    assertThat(ServerProcess.find(pid).orElseThrow().pid()).isNotEqualTo(server);
    Map<String, Object> started =
        Json.readObject(graft.run("start", "-o", "json", SETUP).as(0).out());
    assertThat(started.get("outcomes"))
        .isEqualTo(Map.of("gpu0", "ran already", ONE, "ran already", TWO, "started"));
    graft.run("status", lab).as(0);

    assertThat(graft.run("restart", SETUP, ONE, "--force").as(0).out()).contains("started");
    assertThat(graft.run("stop", SETUP, "nobody").as(1).err())
        .contains("there is no guest 'nobody' and no GPU of that name");
    assertThat(graft.run("stop", "not-there").as(1).err()).contains("not-there");
    graft.run("destroy", SETUP).as(0);
    RealHost.assertNothingLeft(graft, SETUP, ONE, TWO);
  }

  @Test
  void aChangeReplacesTheGuestsAndUndoTakesItBack() throws Exception {
    graft.run("apply", descriptor("256MiB")).as(0);
    assertThat(graft.run("status", descriptor("300MiB")).as(7).out())
        .containsPattern(
            "define it in libvirt \\(1 CPU, 300MiB.*\\) \\(changed: 256MiB → 300MiB\\)");
    graft.run("apply", descriptor("300MiB")).as(0);
    graft.run("status", SETUP).as(0);
    graft.run("destroy", SETUP).as(0);
    RealHost.assertNothingLeft(graft, SETUP, ONE, TWO);
  }

  @Test
  void aGuestThatIsNeverReadyShowsItsConsoleAndIsTakenBack() throws Exception {
    String lab =
        RealHost.descriptor(
            folder,
            "graft: 1\nname: "
                + SETUP
                + "\nguests:\n"
                + ("  - name: " + ONE + "\n")
                + ("    kernel: {image: "
                    + RealHost.kernel()
                    + ", initramfs: "
                    + RealHost.initramfs()
                    + "}\n")
                + "    ready: {when: console, text: NEVER PRINTED, timeout: 12s}\n");
    GraftProcess.Ended ended = graft.run("apply", lab).as(1);
    assertThat(ended.err())
        .contains("was not ready within 12s; the end of its console:")
        .containsPattern("\\n    \\[ +[0-9]+\\.[0-9]+\\] \\S")
        .contains("everything that this run did has been undone");
    graft.run("destroy", SETUP).as(0);
    RealHost.assertNothingLeft(graft, SETUP, ONE);
  }

  /** Stands in for the program that measures, and finds tcp to be the fastest. */
  private static final String MEASURING =
      """
      #!/bin/sh
      case $GRAFT_SERVER in tcp:*) us=10 ;; *) us=100 ;; esac
      echo "channel=$GRAFT_SERVER"
      echo "round_trip_us=$us"
      echo pinned_to_device_mb_s=10000.0
      echo pinned_to_host_mb_s=10000.0
      echo result=ok
      """;

  @Test
  void channelsAreReorderedByWhatWasMeasuredWithoutANewStart() throws Exception {
    Files.writeString(folder.resolve("client/graft-verify"), MEASURING);
    String lab =
        RealHost.descriptor(
            folder,
            """
            graft: 1
            name: %s
            gpus: [{name: gpu0, device: software}]
            guests:
              - name: %s
                kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
                memory: 256MiB
                vgpu: gpu0
                ready: {timeout: 3m, verify: false}
            """
                .formatted(SETUP, ONE, RealHost.kernel(), RealHost.initramfs()));
    graft.run("apply", lab).as(0);
    String look = "cat /proc/sys/kernel/random/boot_id /etc/graft/client.conf; ls /etc/graft";
    String before = inGuest(look);
    assertThat(before).containsPattern("server = ivshmem://\\S+, tcp://\\S+\n");

    assertThat(graft.run("verify", "--channels", lab, ONE).as(0).out())
        .containsPattern("takes ivshmem://\\S+; auto would try tcp://\\S+ ivshmem://\\S+ in")
        .contains("run graft apply " + lab);
    assertThat(graft.run("status", lab).as(7).out())
        .contains("channels of " + ONE + ": tcp://", "the fastest first by the time of")
        .containsPattern(
            "differs from .*\n  guest " + ONE + ": \\+ let its client try tcp://.*\n$");
    graft.run("apply", lab).as(0);
    assertThat(inGuest(look))
        .as("the same boot, another order, and nothing beside")
        .isEqualTo(before.replaceFirst("(ivshmem://\\S+), (tcp://\\S+)", "$2, $1"));
    assertThat(graft.run("verify", "--channels", lab, ONE).as(0).out())
        .containsPattern("the client takes tcp://\\S+, and none is faster");

    graft.run("undo", lab).as(0);
    assertThat(inGuest(look)).isEqualTo(before);
    graft.run("destroy", SETUP).as(0);
    RealHost.assertNothingLeft(graft, SETUP, ONE);
  }

  /** What the agent brings, and what commands do in a guest that runs. */
  @Test
  void aGuestIsSetUpByItsAgentAndReachedByIt() throws Exception {
    Files.writeString(folder.resolve("text"), "one\n");
    String lab =
        RealHost.descriptor(
            folder,
            """
            graft: 1
            name: %s
            gpus: [{name: gpu0, device: software}]
            guests:
              - name: %s
                kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
                memory: 256MiB
                setup: {way: agent, files: [{source: text, path: /srv/new folder/text, mode: 0600}]}
                vgpu: gpu0
                ready: {timeout: 3m, verify: false}
            """
                .formatted(SETUP, ONE, RealHost.kernel(), RealHost.initramfs()));
    assertThat(graft.run("plan", lab).as(0).out()).contains("install by the guest agent: ");
    graft.run("apply", lab).as(0);
    assertThat(graft.run("apply", lab).as(0).out()).contains("nothing to do");
    assertThat(
            inGuest("stat -c '%a %u' '/srv/new folder/text' /etc/graft/token; ls /var/lib/graft"))
        .isEqualTo("600 0\n600 0\n");

    Files.writeString(folder.resolve("text"), "another\n");
    assertThat(graft.run("plan", lab).as(0).out()).contains("1 step\n").doesNotContain("start it");
    graft.run("apply", lab).as(0);
    assertThat(inGuest("cat '/srv/new folder/text'; find / -xdev -name '*.graft-new'"))
        .isEqualTo("another\n");

    byte[] large = new byte[300_000];
    new java.util.Random(1).nextBytes(large);
    Files.write(folder.resolve("large"), large);
    String there = ONE + ":/root/large";
    graft.run("cp", SETUP, folder.resolve("large").toString(), there).as(0);
    graft.run("cp", SETUP, there, folder.resolve("back").toString()).as(0);
    assertThat(folder.resolve("back")).hasBinaryContent(large);

    assertFolders(large);
    assertTerminals();

    Path own = graft.state(SETUP).resolve("guest-" + ONE + ".token");
    String before = Files.readString(own);
    graft.run("rotate", SETUP).as(0);
    String after = Files.readString(own);
    assertThat(after).isNotEqualTo(before);
    assertThat(inGuest("cat /etc/graft/token; stat -c %a /etc/graft/token"))
        .isEqualTo(after + "600\n");
    Path tokens = graft.state(SETUP).resolve("gpu-gpu0.tokens");
    assertThat(tokens).content().contains(after.strip()).doesNotContain(before.strip());
    assertThat(graft.run("plan", lab).as(0).out()).contains("nothing to do");

    graft.run("revoke", SETUP, ONE).as(0);
    assertThat(tokens).content().isEmpty();
    assertThat(graft.run("plan", lab).as(0).out()).contains("grant it access to 'gpu0'");
    assertConsole();
    graft.run("destroy", SETUP).as(0);
    RealHost.assertNothingLeft(graft, SETUP, ONE);
  }

  /** The guest has a shell on its console, once somebody types Enter. */
  private void assertConsole() throws Exception {
    assertThat(graft.run("console", SETUP, ONE).as(0).out()).contains("GRAFT-READY");
    String typed = "\necho title $((6 * 7))$(printf '\\033]0;owned\\007')\n";
    assertThat(graft.withInput(typed, "console", "-i", SETUP, ONE).as(0).out())
        .contains("\ntitle 42\n")
        .doesNotContain("\u001b");
    assertThat(graft.onTerminal("\u001d", "console", SETUP, ONE).as(0).out())
        .containsPattern("title 42\r\n(.*\r\n)*-- the console of '" + ONE + "'; Ctrl-] leaves");
    assertThat(graft.run("console", "--follow", "-i", SETUP, ONE).as(2).err())
        .contains("take no input");
    String off = "\necho raw $((6 * 9))$(printf '\\033[1m')\nsleep 1; poweroff -f\n";
    assertThat(graft.onTerminal(off, "console", SETUP, ONE).as(0).out())
        .contains("raw 54\u001b[1m\r\n", "the guest '" + ONE + "' is shut off");
    assertThat(graft.onTerminal("", "console", SETUP, ONE).as(0).out())
        .as("a guest that is off takes no input")
        .contains("raw 54")
        .doesNotContain("Ctrl-]");
    assertThat(graft.withInput("", "console", "-i", SETUP, ONE).as(1).err())
        .contains("is off, so that its console takes no input", "graft start");
  }

  private void assertFolders(byte[] large) throws Exception {
    Path tree = Files.createDirectories(folder.resolve("tree/sub"));
    Files.write(tree.resolve("large"), large);
    graft.run("cp", "-r", SETUP, folder.resolve("tree").toString(), ONE + ":/root/").as(0);
    inGuest("ln -s /etc/passwd /root/tree/link");
    Path returned = folder.resolve("returned");
    assertThat(graft.run("cp", "-r", SETUP, ONE + ":/root/tree", returned.toString()).as(0).err())
        .contains("links and special files were left out: 1, as ./link");
    assertThat(returned.resolve("sub/large")).hasBinaryContent(large);
  }

  /** The guest has no script(1) until it gets this machine's, which needs the C library alone. */
  private void assertTerminals() throws Exception {
    assertThat(graft.onTerminal("", "exec", "-it", SETUP, ONE, "--", "true").as(125).out())
        .contains("a terminal needs script(1) in the guest");
    graft.run("cp", SETUP, "/usr/bin/script", ONE + ":/bin/script").as(0);
    assertThat(graft.onTerminal("stty size; id -u; exit 7\n", "shell", SETUP, ONE).as(7).out())
        .contains("\r\n33 111\r\n0\r\n");
    graft.onTerminal("~.", "exec", "-it", SETUP, ONE, "--", "sleep", "1000").as(128 + 15);
    assertThat(inGuest("ls -d /tmp/graft-exec.* | wc -l; ps | grep -c '[s]leep 1000'; true"))
        .as("the folder of this command alone, and no program that was ended")
        .isEqualTo("1\n0\n");
  }

  private String inGuest(String script) throws Exception {
    return graft.run("exec", SETUP, ONE, "--", "/bin/sh", "-c", script).as(0).out();
  }

  @Test
  void aGuestThatIsFullSaysSoAndKeepsItsFiles() throws Exception {
    Files.writeString(folder.resolve("text"), "one\n");
    String lab =
        RealHost.descriptor(
            folder,
            """
            graft: 1
            name: %s
            guests:
              - name: %s
                kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
                memory: 256MiB
                setup: {way: agent, files: [{source: text, path: /mnt/text}]}
                ready: {timeout: 3m}
            """
                .formatted(SETUP, ONE, RealHost.kernel(), RealHost.initramfs()));
    graft.run("apply", lab).as(0);
    inGuest("mount -t tmpfs -o size=64k tmpfs /mnt && echo old >/mnt/text");
    Files.write(folder.resolve("text"), new byte[200_000]);
    assertThat(graft.run("apply", "--keep-on-failure", lab).as(5).err())
        .contains("could not be set up: cannot write /mnt/text", "No space left on device")
        .contains("free space on its disk");
    assertThat(inGuest("cat /mnt/text; ls /mnt")).isEqualTo("old\ntext\n");
    inGuest("mount -o remount,size=10m /mnt");
    graft.run("apply", lab).as(0);
    assertThat(inGuest("wc -c </mnt/text").strip()).isEqualTo("200000");
    graft.run("destroy", SETUP).as(0);
  }

  @Test
  void twoAppliesAtATimeAreNotPossible() throws Exception {
    Path state = graft.state(SETUP);
    Files.createDirectories(state);
    Files.writeString(state.resolve("lock"), "");
    try (var channel =
            java.nio.channels.FileChannel.open(
                state.resolve("lock"), java.nio.file.StandardOpenOption.WRITE);
        var lock = channel.lock()) {
      assertThat(lock.isValid()).isTrue();
      assertThat(graft.run("apply", descriptor("256MiB")).as(6).err())
          .contains("another graft works on '" + SETUP + "'");
    }
  }

  private void assertSecretsArePrivate() throws Exception {
    Path state = graft.state(SETUP);
    assertThat(mode(state)).isEqualTo("rwx------");
    assertThat(mode(state.resolve("guest-" + ONE + ".token"))).isEqualTo("rw-------");
    assertThat(mode(state.resolve("gpu-gpu0.tokens"))).isEqualTo("rw-------");
    String token = Files.readString(state.resolve("guest-" + ONE + ".token")).strip();
    assertThat(token).matches("[0-9a-f]{64}");
    assertThat(Files.readString(state.resolve("journal.jsonl"))).doesNotContain(token);
    assertThat(Files.readString(state.resolve("gpu-gpu0.tokens"))).contains(ONE + " " + token);
  }

  private static String mode(Path path) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private String descriptor(String memory) throws Exception {
    return RealHost.descriptor(
        folder,
        """
        graft: 1
        name: %s
        gpus: [{name: gpu0, device: software}]
        guests:
          - &one
            name: %s
            kernel: &kernel {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
            memory: %s
            setup: {files: [{source: program, path: /usr/local/bin/program, mode: 0755}]}
            vgpu: gpu0
            ready: {timeout: 3m, verify: false}
          - {<<: *one, name: %s}
        """
            .formatted(SETUP, ONE, RealHost.kernel(), RealHost.initramfs(), memory, TWO));
  }
}
