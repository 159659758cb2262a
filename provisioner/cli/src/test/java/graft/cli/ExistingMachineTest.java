package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Machines that exist already, by a real SSH server: what they get, that they get back all that
 * they had, and what is refused before anything is changed.
 */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.MACHINES)
class ExistingMachineTest {
  private static final String SETUP = RealHost.unique("existing");
  private static final String TOKEN = "/etc/graft/token";
  private static final String LIBRARY = "/usr/lib/graft/libcuda.so.1";
  private static final Path SCRIPT =
      Path.of("../guests/src/main/resources/graft/guests/machine/machine.sh");
  private static final int UNFIT = 4;
  private static final int LEFT = 5;

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;
  private TestMachine machine;
  private Map<String, String> before;

  @BeforeEach
  void start() throws Exception {
    machine = new TestMachine(folder.resolve("machine"));
    graft = new GraftProcess(folder);
    client("graft-verify", "#!/bin/sh\necho device=none\necho result=ok\n");
    before = machine.sum();
  }

  @AfterEach
  void sweep() throws Exception {
    if (machine != null) {
      if (graft != null && Files.exists(graft.state(SETUP))) {
        graft.run("destroy", SETUP);
      }
      machine.stop();
    }
  }

  private void client(String name, String text) throws Exception {
    Files.writeString(folder.resolve("client").resolve(name), text);
  }

  private String descriptor(String existing) throws Exception {
    return RealHost.descriptor(folder, text(SETUP, existing));
  }

  private String text(String deployment, String existing) {
    return """
        graft: 1
        name: %s
        gpus: [{name: gpu0, device: software}]
        guests:
          - name: box
            existing: {%s}
            vgpu: gpu0
        """
        .formatted(deployment, existing);
  }

  /** A login that works. */
  private String login() {
    return "ssh: root@127.0.0.1, port: %d, key: %s, known-hosts: %s"
        .formatted(machine.port(), machine.key("key"), machine.knownHosts());
  }

  private String lab() throws Exception {
    return descriptor(login());
  }

  private String refused(String existing) throws Exception {
    String said = graft.run("plan", descriptor(existing)).as(UNFIT).err();
    assertThat(machine.sum()).as("nothing was changed").isEqualTo(before);
    assertThat(graft.run("apply", descriptor(existing)).code()).isEqualTo(UNFIT);
    assertThat(machine.sum()).as("nothing was changed").isEqualTo(before);
    return said;
  }

  @Test
  void aMachineGetsTheClientAndGetsBackWhatItHad() throws Exception {
    String lab = lab();
    String plan = graft.run("plan", lab).as(0).out();
    assertThat(plan)
        .contains("gets the client in /usr/lib/graft")
        .contains("install on root@127.0.0.1:" + machine.port() + " by SSH: ");
    assertThat(machine.sum()).as("a plan changes nothing").isEqualTo(before);

    graft.run("apply", lab).as(0);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(machine.file(TOKEN))))
        .isEqualTo("rw-------");
    assertThat(Files.readString(machine.file("/etc/graft/client.conf")))
        .contains("server = tcp://127.0.0.1:");
    assertThat(graft.run("plan", lab).as(0).out()).contains("nothing to do");
    assertThat(graft.run("verify", lab).out()).contains("box").contains("ok");
    assertThat(graft.run("exec", lab, "box", "--", "cat", LIBRARY).as(0).out())
        .contains("no real library");
    assertThat(graft.run("status", lab).as(0).out())
        .contains("guest box: existing machine root@127.0.0.1:" + machine.port())
        .contains("CUDA ok");
    assertThat(graft.run("console", lab, "box").err())
        .contains("a machine that Graft did not make");

    String token = Files.readString(machine.file(TOKEN));
    graft.run("rotate", lab).as(0);
    assertThat(Files.readString(machine.file(TOKEN))).isNotEqualTo(token);
    graft.run("revoke", lab, "box").as(0);
    assertThat(graft.run("plan", lab).as(0).out()).contains("grant it access");

    graft.run("destroy", lab).as(0);
    assertThat(machine.sum()).isEqualTo(before);
    assertThat(graft.state(SETUP)).doesNotExist();
  }

  @Test
  void filesThatWereThereComeBackWithTheirModesAndTimes() throws Exception {
    machine.write(LIBRARY, "the real driver", "rw-r-----");
    machine.write(TOKEN, "another token", "rw-rw-r--");
    machine.write("/etc/ld.so.conf.d/zz-graft.conf", "/opt/driver\n", "rw-r--r--");
    Files.createSymbolicLink(machine.file("/usr/lib/graft/graft-verify"), Path.of("/bin/true"));
    machine.write("/usr/lib/graft/mine", "mine", "rw-r--r--");
    before = machine.sum();
    assertThat(graft.run("plan", lab()).as(0).out())
        .contains("has these files already, which are kept and given back: ")
        .contains(LIBRARY);
    graft.run("apply", lab()).as(0);
    assertThat(machine.file(LIBRARY)).hasContent("no real library");
    graft.run("destroy", lab()).as(0);
    assertThat(machine.sum()).isEqualTo(before);
  }

  @Test
  void aFileOfTheSetUpMayBeNamedLikeAnUnfinishedCopy() throws Exception {
    Path source = Files.writeString(folder.resolve("source"), "new");
    machine.write("/opt/x.part", "old", "rw-r-----");
    machine.write("/opt/folder/inside", "old", "rw-r-----");
    before = machine.sum();
    String files = "\n    setup: {files: [{source: " + source + ", path: %s}]}\n";
    Path lab = Path.of(lab());
    String text = Files.readString(lab).stripTrailing();
    Files.writeString(lab, text + files.formatted("/opt/x.part"));
    graft.run("apply", lab.toString()).as(0);
    assertThat(machine.file("/opt/x.part")).hasContent("new");
    graft.run("destroy", lab.toString()).as(0);
    assertThat(machine.sum()).isEqualTo(before);

    Files.createSymbolicLink(machine.file("/opt/link"), Path.of("folder"));
    before = machine.sum();
    Files.writeString(lab, text + files.formatted("/opt/link"));
    assertThat(graft.run("apply", lab.toString()).as(1).err()).contains("/opt/link is a folder");
    assertThat(machine.sum()).isEqualTo(before);
  }

  @Test
  void aNewClientReplacesTheFormerOneAndUndoStillGivesBackTheFirst() throws Exception {
    machine.write(LIBRARY, "the real driver", "rw-r-----");
    before = machine.sum();
    graft.run("apply", lab()).as(0);
    client("libcuda.so.1", "a newer library");
    assertThat(graft.run("plan", lab()).as(0).out()).doesNotContain("nothing to do");
    graft.run("apply", lab()).as(0);
    assertThat(machine.file(LIBRARY)).hasContent("a newer library");
    Files.delete(machine.file(LIBRARY));
    assertThat(graft.run("plan", lab()).as(0).out()).contains("changed or deleted on the machine");
    graft.run("destroy", lab()).as(0);
    assertThat(machine.sum()).isEqualTo(before);
  }

  @Test
  void whatAKilledInstallationLeftIsTakenBack() throws Exception {
    machine.write("/var/lib/graft/setup/journal.jsonl", "a deployment's", "rw-------");
    before = machine.sum();
    graft.run("apply", lab()).as(0);
    machine.write("/etc/graft/.graft-new/token", "half", "rw-------");
    machine.write(TOKEN + ".graft-new", "half", "rw-------");
    machine.write("/var/lib/graft/.incoming/setup.tar", "half", "rw-------");
    machine.write("/var/lib/graft/.setup/manifest", "half", "rw-------");
    graft.run("destroy", lab()).as(0);
    assertThat(machine.sum()).isEqualTo(before);
  }

  /**
   * In the machine's own script, at every fourth program that the script starts (see {@link
   * KillingApply#EVERY}).
   */
  @Test
  void aScriptThatIsKilledAnywhereIsDoneAgain() throws Exception {
    Path said = folder.resolve("said");
    Process kills =
        new ProcessBuilder(
                TestMachine.resource("/kill-machine-script").toString(),
                folder.resolve("machine").toString(),
                SCRIPT.toAbsolutePath().toString(),
                String.valueOf(KillingApply.EVERY))
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(kills.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(Files.readString(said))
        .containsPattern("keep: tried up to program [2-9][0-9]")
        .containsPattern("undo: tried up to program [2-9][0-9]")
        .endsWith("bad=0\n");
  }

  @Test
  void anInstallationThatFailsLeavesNothing() throws Exception {
    client("graft-verify", "#!/bin/sh\necho the server does not answer\nexit 1\n");
    GraftProcess.Ended ended = graft.run("apply", lab()).as(1);
    assertThat(ended.err())
        .contains("the server does not answer")
        .contains("does the machine reach");
    assertThat(machine.sum()).isEqualTo(before);
  }

  @Test
  void aMachineThatIsGoneIsForgottenOnlyOnRequest() throws Exception {
    graft.run("apply", lab()).as(0);
    machine.stop();
    assertThat(graft.run("plan", lab()).as(UNFIT).err()).contains("Connection refused");
    assertThat(graft.run("status", lab()).out())
        .contains("DOES NOT ANSWER")
        .contains("start the machine root@127.0.0.1");
    GraftProcess.Ended destroyed = graft.run("destroy", lab());
    assertThat(destroyed.code()).isEqualTo(LEFT);
    assertThat(destroyed.err()).contains("graft forget");
    assertThat(graft.run("forget", SETUP, "box").as(0).out()).contains("is forgotten");
    graft.run("destroy", SETUP).as(0);
    assertThat(graft.state(SETUP)).doesNotExist();
  }

  @Test
  void adoptWritesADescriptorThatCanBePlannedAndNeverOverAFile() throws Exception {
    machine.program(
        "uname", "case $1 in -s) echo Linux ;; -m) echo x86_64 ;; *) echo Box-1.x ;; esac");
    before = machine.sum();
    Path adopted = folder.resolve("adopted.yaml");
    String[] adopt = {
      "adopt",
      "root@127.0.0.1",
      adopted.toString(),
      "--port",
      String.valueOf(machine.port()),
      "--key",
      machine.key("key").toString(),
      "--known-hosts",
      machine.knownHosts().toString()
    };
    graft.run(adopt).as(0);
    assertThat(machine.sum()).isEqualTo(before);
    assertThat(adopted)
        .content()
        .contains("# root@127.0.0.1: Linux, x86_64, glibc")
        .contains("name: \"box-1\"");
    assertThat(graft.run("plan", adopted.toString()).as(0).out()).contains("guest box-1");
    assertThat(graft.run(adopt).as(1).err()).contains("there is a file");
    machine.program(
        "uname",
        "case $1 in -s) echo Linux ;; -m) echo x86_64 ;; *) printf 'a: b\\n\\033]' ;; esac");
    adopt[2] = folder.resolve("hostile.yaml").toString();
    graft.run(adopt).as(0);
    assertThat(folder.resolve("hostile.yaml")).content().contains("name: \"machine\"");
    assertThat(graft.run("adopt", "-oProxyCommand=x@h").code()).isEqualTo(2);
    assertThat(graft.run("adopt", "--", "-oProxyCommand=x@h").as(2).err()).contains("USER@HOST");
  }

  @Test
  void theMachineOfAnotherDeploymentIsRefused() throws Exception {
    graft.run("apply", lab()).as(0);
    Path other = folder.resolve("other.yaml");
    Files.write(other, List.of(text(SETUP + "-2", login())));
    assertThat(graft.run("plan", other.toString()).as(UNFIT).err())
        .contains("has the client of another deployment: guest box of " + SETUP + " of host");
  }

  @Test
  void anUnknownHostKeyIsNeverAccepted() throws Exception {
    Path empty = Files.createFile(folder.resolve("nobody"));
    String unknown = login().replace(machine.knownHosts().toString(), empty.toString());
    assertThat(refused(unknown))
        .contains("Host key verification failed")
        .contains("ssh-keyscan -p " + machine.port());
    assertThat(empty).isEmptyFile();
    Files.writeString(
        machine.knownHosts(),
        "[127.0.0.1]:%d %s"
            .formatted(machine.port(), Files.readString(machine.key("other-key.pub"))));
    assertThat(refused(login()))
        .contains("REMOTE HOST IDENTIFICATION HAS CHANGED")
        .contains("ssh-keygen -R '[127.0.0.1]:" + machine.port() + "'");
  }

  @Test
  void aRefusedKeyAndAWrongHostAreSaid() throws Exception {
    assertThat(refused(login().replace(machine.key("key") + ",", machine.key("other-key") + ",")))
        .contains("Permission denied")
        .contains("ssh-copy-id");
    assertThat(refused(login().replace("127.0.0.1", "no-such-host.invalid")))
        .contains("Could not resolve hostname")
        .contains("correct the name");
    assertThat(refused(login().replace(machine.key("key") + ",", folder.resolve("none") + ",")))
        .contains("there is no file " + folder.resolve("none"));
  }

  @Test
  void anUnfitMachineIsSaid() throws Exception {
    machine.program("ldd", "echo 'musl libc (x86_64)' >&2; exit 1");
    before = machine.sum();
    assertThat(refused(login())).contains("has musl as its C library");
    machine.program("ldd", "exit 1");
    machine.program("uname", "[ \"$1\" = -s ] && echo Linux || echo aarch64");
    before = machine.sum();
    assertThat(refused(login()))
        .contains("has the CPU architecture aarch64, and the client is for x86_64");
    machine.program("uname", "[ \"$1\" = -s ] && echo FreeBSD || echo amd64");
    before = machine.sum();
    assertThat(refused(login())).contains("runs FreeBSD, and the client is for Linux");
    machine.program("uname", "[ \"$1\" = -s ] && echo Linux || echo x86_64");
    Files.move(machine.file("/usr/bin/tar"), folder.resolve("tar"));
    before = machine.sum();
    assertThat(refused(login())).contains("lacks programs that the installation needs: tar");
  }

  @Test
  void aReadOnlyOrFullDiskIsSaid() throws Exception {
    machine.mounts("mount --bind $root/usr $root/usr; mount -o remount,bind,ro $root/usr");
    assertThat(refused(login())).contains("has a read-only /usr/lib");
    machine.mounts("mount -t tmpfs -o size=4k none $root/etc/ld.so.conf.d");
    client("libcuda.so.1", "x".repeat(100_000));
    assertThat(refused(login())).contains("free at /etc/ld.so.conf.d, and the installation needs");
  }
}
