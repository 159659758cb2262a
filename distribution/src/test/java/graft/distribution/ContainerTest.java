package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A container of libvirt's LXC driver with a vGPU: set up, used, attacked by its own root. */
@Tag("integration")
@EnabledIfSystemProperty(named = "user.name", matches = "root")
@TestMethodOrder(MethodOrderer.MethodName.class)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
@ResourceLock(UnprivilegedServerTest.USER)
final class ContainerTest {
  private static final String LXC = "lxc:///system";

  /** Longer than libvirt tries to kill a container's processes. */
  private static final Duration GIVES_UP = Duration.ofSeconds(12);

  @TempDir static Path folder;
  private static GuestLab lab;
  private static String guest;
  private static List<String> subuidBefore;

  @BeforeAll
  static void apply() throws Exception {
    subuidBefore = subuid();
    lab = GuestLab.in(folder);
    guest = lab.name() + "-1";
    write("");
    String said = lab.graft(0, "apply", lab.descriptor().toString());
    assertThat(said).contains("make its root folder", "in its namespaces");
  }

  private static void write(String more) throws IOException {
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %s
        hypervisor: lxc
        gpus: [{name: gpu0, device: software}]
        guests:
          - name: %s
            root: %s
            memory: 128MiB
            vgpu: gpu0
        %s\
        """
            .formatted(lab.name(), guest, GuestLab.small("initramfs.cpio"), more));
  }

  @AfterAll
  static void destroy() throws Exception {
    Path state = folder.resolve("state").resolve(lab.name());
    lab.destroy();
    assertThat(lab.run(0, List.of("virsh", "-q", "-c", LXC, "list", "--all", "--name")))
        .doesNotContain(guest);
    assertThat(root()).doesNotExist();
    assertThat(state.resolve("journal.jsonl")).doesNotExist();
    assertThat(subuid()).isEqualTo(subuidBefore);
    try (var sockets = Files.newDirectoryStream(folders("/var/lib/graft-sockets"))) {
      assertThat(sockets).noneMatch(path -> path.toString().contains(lab.name()));
    }
  }

  private static Path folders(String path) throws IOException {
    return Files.isDirectory(Path.of(path))
        ? Path.of(path)
        : Files.createDirectory(folder.resolve("none"));
  }

  private static List<String> subuid() throws IOException {
    return Files.readAllLines(Path.of("/etc/subuid"));
  }

  private static Path root() {
    return Path.of("/var/lib/libvirt/images/graft", lab.name(), guest, "container/root");
  }

  @Test
  void aProgramInItUsesTheGpuByMemoryThatBothShare() throws Exception {
    assertThat(lab.graft(0, "status", lab.descriptor().toString()))
        .contains("running", "CUDA ok on Graft software device 0 by shm:///var/lib/graft/server");
    assertThat(lab.graft(0, "verify", lab.name())).contains("ok");
  }

  @Test
  void aSecondPlanHasNoSteps() throws Exception {
    assertThat(lab.graft(0, "plan", lab.descriptor().toString())).contains("nothing to do");
  }

  @Test
  void itsRootIsNobodyOnTheHost() throws Exception {
    long user = (int) Files.getAttribute(root().resolve("etc"), "unix:uid");
    assertThat(user).isGreaterThan(1_000_000);
    assertThat(subuid()).contains("graft-" + lab.name() + "-" + guest + ":" + user + ":65536");
    assertThat(lab.inGuest(guest, "id -u; cat /proc/self/uid_map"))
        .startsWith("0\n")
        .contains("" + user);
    Path token = root().resolve("etc/graft/token");
    assertThat((int) Files.getAttribute(token, "unix:mode") & 07777).isEqualTo(0600);
    assertThat((int) Files.getAttribute(token, "unix:uid")).isEqualTo((int) user);
  }

  @Test
  void itHasNoNetworkAndSeesNoProcessesOfTheHost() throws Exception {
    assertThat(lab.inGuest(guest, "ls /sys/class/net")).isEqualToIgnoringWhitespace("lo");
    assertThat(Integer.parseInt(lab.inGuest(guest, "ls -d /proc/[0-9]* | wc -l").strip()))
        .isLessThan(20);
  }

  @Test
  void whatIsExecutedInItCountsAgainstItsLimits() throws Exception {
    String cgroups = lab.inGuest(guest, "cat /proc/self/cgroup");
    assertThat(cgroups.lines().filter(line -> line.matches("\\d+:(memory|cpu.*|):/.+")))
        .isNotEmpty()
        .allSatisfy(line -> assertThat(line).contains("lxc-"));
  }

  @Test
  void aProgramInItHasATerminalAndItsKeys() throws Exception {
    String script =
        "[ -t 0 ] && stty size; stty raw -echo; echo ready; dd bs=1 count=1 2>/dev/null | od -An"
            + " -tu1; exit 7";
    assertThat(lab.beginOnTerminal("exec", "-it", lab.name(), guest, "--", "true").ends(125))
        .contains("a terminal needs script(1) of util-linux in the container");
    lab.graft(0, "cp", lab.name(), "/usr/bin/script", guest + ":/bin/script");
    GuestLab.Begun begun =
        lab.beginOnTerminal("exec", "-it", lab.name(), guest, "--", "/bin/sh", "-c", script);
    begun.untilItSays("ready\n");
    begun.process().getOutputStream().write(3); // Ctrl-C
    begun.process().getOutputStream().flush();
    assertThat(begun.ends(7)).contains("33 111").containsPattern("ready\\s+3\\s");
    GuestLab.Begun shell = lab.beginOnTerminal("shell", lab.name(), guest);
    shell.process().getOutputStream().write("id -u; exit 9\n".getBytes(StandardCharsets.UTF_8));
    shell.process().getOutputStream().flush();
    assertThat(shell.ends(9)).contains("\r\n0\r\n");
  }

  /** The container's root leads every path that Graft might use elsewhere. */
  @Test
  void filesAreNeitherWrittenNorReadThroughItsLinksOutOfItsRoot() throws Exception {
    Path secret = Files.writeString(folder.resolve("secret"), "of the host");
    Path victim = Files.writeString(folder.resolve("victim"), "as it was");
    lab.inGuest(
        guest,
        "ln -s "
            + secret
            + " /tmp/read; ln -s "
            + victim
            + " /tmp/write; ln -s / /tmp/top;"
            + " ln -s ../../../../../../../../../.. /tmp/up");
    Path mine = Files.writeString(folder.resolve("mine"), "from the host");
    lab.graft(1, "cp", lab.name(), guest + ":/tmp/read", folder.resolve("got").toString());
    assertThat(folder.resolve("got")).doesNotExist();
    lab.graft(0, "cp", lab.name(), mine.toString(), guest + ":/tmp/write");
    lab.graft(1, "cp", lab.name(), mine.toString(), guest + ":/tmp/up" + folder + "/planted");
    lab.graft(0, "cp", lab.name(), mine.toString(), guest + ":/tmp/top/planted");
    assertThat(victim).hasContent("as it was");
    assertThat(folder.resolve("planted")).doesNotExist();
    assertThat(Path.of("/planted")).doesNotExist();
    assertThat(root().resolve("planted")).hasContent("from the host");
    lab.inGuest(guest, "rm /tmp/read /tmp/write /tmp/top /tmp/up /planted");
  }

  /** Whatever lies in its root folder, a plan, and what it observes, does not open it. */
  @Test
  void pipesAndDeepFoldersInItsRootStopNoPlan() throws Exception {
    lab.inGuest(
        guest,
        "mkfifo /tmp/pipe; i=0; cd /root; while [ $i -lt 300 ]; do mkdir dddddddddddddddddddd;"
            + " cd dddddddddddddddddddd; i=$((i+1)); done");
    assertThat(lab.graft(0, "plan", lab.descriptor().toString())).contains("nothing to do");
  }

  /** A container can mount its folders anew, so that the folder's owner has to keep it out. */
  @Test
  void itCannotChangeTheFolderOfItsServersSocket() throws Exception {
    assertThat(
            lab.inGuest(
                guest,
                "cd /var/lib/graft/server; mount -o remount,rw,bind . 2>/dev/null; rm -f"
                    + " server.sock 2>/dev/null || echo kept; touch x 2>/dev/null || echo refused;"
                    + " chmod 777 . 2>/dev/null || echo private; [ -S server.sock ] && echo there"))
        .contains("kept", "refused", "private", "there");
  }

  @Test
  void itsConsoleIsKept() throws Exception {
    lab.inGuest(
        guest, "i=0; while [ $i -lt 500 ]; do echo line-$i; i=$((i+1)); done >/dev/console");
    assertThat(lab.graft(0, "console", "--lines", "600", lab.name(), guest))
        .contains("GRAFT-READY", "line-0", "line-499");
  }

  /** Its init has a shell on the console, once somebody types Enter. */
  @Test
  void itsConsoleTakesInputAndIsKept() throws Exception {
    GuestLab.Begun console = lab.beginOnTerminal("console", lab.name(), guest);
    console.untilItSays("Ctrl-] leaves it --");
    OutputStream keys = console.process().getOutputStream();
    keys.write("\recho it is $((6 * 7))\r".getBytes(StandardCharsets.UTF_8));
    keys.flush();
    console.untilItSays("it is 42\r\n");
    assertThat(lab.graft(1, "console", "-i", lab.name(), guest)).contains("open elsewhere");
    keys.write("\u001d".getBytes(StandardCharsets.UTF_8));
    keys.flush();
    console.ends(0);
    assertThat(lab.graft(0, "console", lab.name(), guest)).contains("it is 42");
  }

  @Test
  void zzItStopsAndStartsWithItsFiles() throws Exception {
    lab.inGuest(guest, "echo kept >/root/mine");
    assertThat(lab.graft(0, "stop", lab.name(), guest)).contains("stopped");
    assertThat(domain("domstate")).contains("shut off");
    assertThat(lab.graft(0, "start", lab.name(), guest)).contains("started");
    assertThat(lab.inGuest(guest, "cat /root/mine")).contains("kept");
    assertThat(lab.graft(0, "restart", lab.name())).contains("gpu0", "started");
    assertThat(lab.graft(0, "status", lab.descriptor().toString())).contains("CUDA ok");
    assertThat(Files.exists(root().resolve("root/mine"), LinkOption.NOFOLLOW_LINKS)).isTrue();
  }

  /**
   * libvirt gives a container up if a process of the container does not end within seconds of being
   * killed, and says from then on that the container runs. A disk that does not answer holds a
   * process like that; in this test the freezer does.
   */
  @Test
  void zzStopsWhereAProcessOutlivesInit() throws Exception {
    int controller = Integer.parseInt(domain("domid").strip());
    Path freezer = freezer(controller);
    assumeTrue(Files.exists(freezer.resolve("freezer.state")), "needs the freezer of cgroups 1");
    Path held = Files.createDirectory(freezer.resolve("held"));
    Process process = new ProcessBuilder("sleep", "1000").start();
    try {
      for (String line : Files.readAllLines(Path.of("/proc/" + controller + "/cgroup"))) {
        String[] words = line.split(":", 3);
        Path cgroup = Path.of("/sys/fs/cgroup", words[1], words[2]);
        if (words[2].startsWith("/machine")) {
          Files.writeString(
              (cgroup.equals(freezer) ? held : cgroup).resolve("cgroup.procs"), "" + process.pid());
        }
      }
      Files.writeString(held.resolve("freezer.state"), "FROZEN");
      GuestLab.Begun stop = lab.begin("stop", lab.name(), guest);
      while (Files.exists(Path.of("/proc/" + controller))) {
        assertThat(stop.process().isAlive()).isTrue();
        Thread.sleep(100);
      }
      Thread.sleep(GIVES_UP.toMillis());
      assertThat(domain("domstate")).contains("running");
      Files.writeString(held.resolve("freezer.state"), "THAWED");
      assertThat(stop.ends(0)).contains("stopped");
      assertThat(domain("domstate")).contains("shut off");
    } finally {
      if (Files.exists(held)) {
        Files.writeString(held.resolve("freezer.state"), "THAWED");
      }
      process.destroyForcibly();
    }
    lab.graft(0, "start", lab.name(), guest);
  }

  private static Path freezer(int controller) throws IOException {
    return Files.readAllLines(Path.of("/proc/" + controller + "/cgroup")).stream()
        .map(line -> line.split(":", 3))
        .filter(words -> words[1].equals("freezer"))
        .map(words -> Path.of("/sys/fs/cgroup/freezer", words[2]))
        .findFirst()
        .orElse(folder);
  }

  private static String domain(String command) throws Exception {
    return lab.run(0, List.of("virsh", "-q", "-c", LXC, command, guest));
  }

  /** Each server has a token of its own, and one that is lost is not overlooked. */
  @Test
  void zxOneUsesTheGpusOfTwoServers() throws Exception {
    GuestLab other = GuestLab.in(Files.createDirectory(folder.resolve("servers")));
    String name = other.name() + "-1";
    Files.writeString(
        other.descriptor(),
        Files.readString(lab.descriptor())
            .replace(guest, name)
            .replace("name: " + lab.name(), "name: " + other.name())
            .replace("software}]", "software}, {name: gpu1, device: software}]")
            .replace("vgpu: gpu0", "vgpu: [gpu0, gpu1]"));
    String both =
        "ok on Graft software device 0 %1$s shm:///var/lib/graft/server/server.sock;"
            + " Graft software device 0 %1$s shm:///var/lib/graft/server.gpu1/server.sock";
    try {
      other.graft(0, "apply", other.descriptor().toString());
      assertThat(other.graft(0, "status", other.descriptor().toString()))
          .contains("CUDA " + both.formatted("by"));
      assertThat(other.graft(0, "plan", other.descriptor().toString())).contains("nothing to do");
      String modes = "stat -c %a /etc/graft/token*";
      String tokens = "cat /etc/graft/token*";
      assertThat(other.inGuest(name, modes)).startsWith("600\n600\n");
      List<String> before = other.inGuest(name, tokens).lines().toList();
      other.graft(0, "rotate", other.name(), name);
      assertThat(other.inGuest(name, modes)).startsWith("600\n600\n");
      assertThat(other.inGuest(name, tokens).lines())
          .hasSize(2)
          .doesNotHaveDuplicates()
          .doesNotContainAnyElementsOf(before);
      assertThat(other.graft(0, "verify", other.name())).contains(both.formatted("at"));
      other.graft(0, "stop", other.name(), "gpu1");
      assertThat(other.graft(1, "verify", other.name())).contains("1 of 2 servers");
      other.graft(0, "start", other.name(), "gpu1");
      other.graft(0, "revoke", other.name(), name);
      assertThat(other.graft(0, "plan", other.descriptor().toString()))
          .contains("grant it access to 'gpu0'", "grant it access to 'gpu1'");
    } finally {
      other.destroy();
    }
  }

  /** The small image has no OpenSSL, so that its session over the network is not encrypted. */
  @Test
  void zyOneOnANetworkOfLibvirtsUsesTheGpuByTcp() throws Exception {
    GuestLab other = GuestLab.in(Files.createDirectory(folder.resolve("network")));
    Files.writeString(
        other.descriptor(),
        Files.readString(lab.descriptor())
            .replace(guest, other.name() + "-1")
            .replace("name: " + lab.name(), "name: " + other.name())
            .replace(
                "guests:",
                "networks: [{name: %s, address: %s/24}]\nguests:"
                    .formatted(other.name(), other.gateway()))
            .replace(
                "vgpu: gpu0",
                "networks: [%s]\n    vgpu: {gpu: gpu0, channel: tcp, unencrypted: [tcp]}"
                    .formatted(other.name())));
    try {
      other.graft(0, "apply", other.descriptor().toString());
      assertThat(other.graft(0, "status", other.descriptor().toString()))
          .contains("CUDA ok on Graft software device 0 by tcp://" + other.gateway());
      assertThat(other.graft(0, "plan", other.descriptor().toString())).contains("nothing to do");
    } finally {
      other.destroy();
    }
  }

  @Test
  @WithLongTests
  void zzzAnApplyThatIsKilledGoesOn() throws Exception {
    GuestLab other = GuestLab.in(Files.createDirectory(folder.resolve("killed")));
    String name = other.name() + "-1";
    Files.writeString(
        other.descriptor(),
        Files.readString(lab.descriptor()).replace(guest, name).replace(lab.name(), other.name()));
    for (Map.Entry<String, String> moment :
        Map.of("root folder", "apply", "register the users", "destroy", "start it", "apply")
            .entrySet()) {
      GuestLab.Begun begun = other.begin("apply", other.descriptor().toString());
      begun.untilItSays(moment.getKey());
      begun.process().destroyForcibly().waitFor();
      if (moment.getValue().equals("apply")) {
        other.graft(0, "apply", other.descriptor().toString());
        assertThat(other.inGuest(name, "echo well")).contains("well");
      }
      other.destroy();
      assertThat(Path.of("/var/lib/libvirt/images/graft", other.name())).doesNotExist();
      assertThat(subuid()).noneMatch(line -> line.contains(other.name()));
    }
  }
}
