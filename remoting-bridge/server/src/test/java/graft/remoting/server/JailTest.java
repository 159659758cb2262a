package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a compromised worker cannot do. The worker is real, in its jail and with its filter of
 * system calls; the code that runs in it is hostile.
 */
@Timeout(120)
class JailTest {
  private static final Set<String> NEEDED =
      Set.of("mounts", "network", "ipc", "user", "capabilities", "seccomp");

  private static final int THREADS = 200;

  @TempDir static Path folder;
  private static ServerFixture fixture;

  @BeforeAll
  static void start() throws Exception {
    fixture =
        ServerFixture.start(
            folder,
            "hostile",
            config -> config.spares(2).jail(JailConfig.defaults().withThreads(THREADS)));
    Isolation isolation = fixture.server.isolation();
    System.out.println(isolation.describe());
    assumeTrue(isolation.parts().containsAll(NEEDED), isolation::describeMissing);
  }

  @AfterAll
  static void stop() {
    if (fixture != null) {
      fixture.close();
    }
  }

  private static HostileClient alice() throws IOException {
    return HostileClient.session(fixture.address(), "alice", ServerFixture.ALICE);
  }

  private static long workerOtherThan(String its) {
    return ProcessHandle.current()
        .descendants()
        .filter(child -> child.info().commandLine().orElse("").contains("hostile"))
        .map(ProcessHandle::pid)
        .filter(pid -> !its.startsWith(pid + " "))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void nothingOfTheHostIsInReach() throws Exception {
    try (HostileClient alice = alice()) {
      long other = workerOtherThan(alice.attempt("see /proc"));
      Map<String, String> outcomes = new LinkedHashMap<>();
      for (Map.Entry<String, String> attempt : attempts(other).entrySet()) {
        outcomes.put(attempt.getKey(), alice.attempt(attempt.getValue()));
      }
      outcomes.forEach(
          (what, outcome) -> System.out.printf(Locale.ROOT, "%-40s %s%n", what, outcome));
      assertThat(outcomes.values()).doesNotContain("DONE");
      assertThat(ProcessHandle.of(other)).isPresent();
    }
  }

  /** System calls by their numbers on x86-64. */
  private static Map<String, String> attempts(long other) {
    long server = ProcessHandle.current().pid();
    Map<String, String> attempts = new LinkedHashMap<>();
    attempts.put("read /etc/shadow", "read /etc/shadow");
    attempts.put("read /etc/passwd", "read /etc/passwd");
    attempts.put("read the server's tokens", "read " + folder.resolve("tokens"));
    attempts.put("read the server's memory", "read /proc/" + server + "/mem");
    attempts.put("read the server's environment", "read /proc/" + server + "/environ");
    attempts.put("read another worker's memory", "read /proc/" + other + "/mem");
    attempts.put("process_vm_readv of the server", "call 310 " + server + " +16 1 +16 1 0");
    attempts.put("process_vm_writev of the server", "call 311 " + server + " +16 1 +16 1 0");
    attempts.put("ptrace(PTRACE_ATTACH) of the server", "call 101 16 " + server + " 0 0");
    attempts.put("ptrace(PTRACE_SEIZE) of a worker", "call 101 0x4206 " + other + " 0 0");
    attempts.put("pidfd_open of the server", "call 434 " + server + " 0");
    attempts.put("kill the server", "call 62 " + server + " 9");
    attempts.put("kill another worker", "call 62 " + other + " 9");
    attempts.put("kill all", "call 62 -1 9");
    attempts.put("tgkill the server", "call 234 " + server + " " + server + " 9");
    attempts.put("stop being killed with the server", "call 157 1 0 0 0 0");
    attempts.put("prlimit of the server", "call 302 " + server + " 7 +16 0");
    attempts.put("raise the own limit of processes", "call 160 6 +16");
    attempts.put("make a TCP socket", "call 41 2 1 0");
    attempts.put("make an IPv6 socket", "call 41 10 1 0");
    attempts.put("make a raw socket", "call 41 2 3 1");
    attempts.put("make a packet socket", "call 41 17 3 0");
    attempts.put("make a netlink socket", "call 41 16 3 0");
    attempts.put("make a Unix socket", "call 41 1 1 0");
    attempts.put("make a vsock socket", "call 41 40 1 0");
    attempts.put("connect", "call 42 1 +16 16");
    attempts.put("mount a tmpfs", "call 165 'none '/tmp 'tmpfs 0 0");
    attempts.put("unmount /proc", "call 166 '/proc/self 2");
    attempts.put("pivot_root", "call 155 '/tmp '/tmp");
    attempts.put("chroot", "call 161 '/tmp");
    attempts.put("unshare(CLONE_NEWUSER)", "call 272 0x10000000");
    attempts.put("setns", "call 308 0 0");
    attempts.put("setuid(0)", "call 105 0");
    attempts.put("setgid(0)", "call 106 0");
    attempts.put("capset", "call 126 +8 +24");
    attempts.put("open /dev/kvm", "read /dev/kvm");
    attempts.put("open /dev/mem", "read /dev/mem");
    attempts.put("open /dev/kmsg", "read /dev/kmsg");
    attempts.put("open a disk", "read /dev/vda");
    attempts.put("make a device node", "call 133 '/tmp/node 0x21ff 0x101");
    attempts.put("write to /", "write /x");
    attempts.put("write to /usr/lib", "write /usr/lib/x");
    attempts.put("write to its own classes", "write /tmp/../usr/lib/locale/x");
    attempts.put("write to /proc/self/oom_score_adj", "write /proc/self/oom_score_adj");
    attempts.put("fill the disk by /tmp", "fill /tmp/x " + (1L << 30));
    attempts.put("fork", "call 57");
    attempts.put("vfork", "call 58");
    attempts.put("clone a process", "call 56 17 0 0 0 0");
    attempts.put("clone3", "call 435 +88 88");
    attempts.put("execute /bin/sh", "call 59 '/bin/sh 0 0");
    attempts.put("execute Java", "call 59 '" + System.getProperty("java.home") + "/bin/java 0 0");
    attempts.put("execveat", "call 322 -100 '/bin/sh 0 0 0");
    attempts.put("bpf", "call 321 0 +64 64");
    attempts.put("perf_event_open", "call 298 +128 0 -1 -1 0");
    attempts.put("io_uring_setup", "call 425 8 +128");
    attempts.put("userfaultfd", "call 323 0");
    attempts.put("add_key", "call 248 'user 'x 'y 1 -2");
    attempts.put("open_by_handle_at", "call 304 -100 +16 0");
    attempts.put("shmget", "call 29 0 4096 0x3ff");
    attempts.put("init_module", "call 175 +64 64 '");
    attempts.put("reboot", "call 169 0 0 0 0");
    attempts.put("sethostname", "call 170 'x 1");
    attempts.put("ioctl(TIOCSTI)", "call 16 2 0x5412 +8");
    attempts.put("personality", "call 135 0x0040000");
    attempts.put("threads without end", "threads 100000");
    return attempts;
  }

  @Test
  void itSeesItsOwnProcessAndFilesAlone() throws Exception {
    try (HostileClient alice = alice()) {
      assertThat(alice.attempt("see /").split(" "))
          .contains("dev", "proc", "tmp", "usr")
          .doesNotContain("home", "var", "run", "boot");
      assertThat(alice.attempt("see /proc")).matches("\\d+ mounts net self");
      assertThat(alice.attempt("see /dev")).isEqualTo("fd null random shm urandom zero");
      assertThat(alice.attempt("see /sys")).isEqualTo("devices");
      assertThat(alice.attempt("write /tmp/own")).isEqualTo("DONE");
    }
  }

  @Test
  void workersShareNoUserAndNoFiles() throws Exception {
    try (HostileClient one = alice();
        HostileClient two = HostileClient.session(fixture.address(), "bob", ServerFixture.BOB)) {
      assertThat(one.attempt("write /tmp/secret")).isEqualTo("DONE");
      assertThat(two.attempt("see /tmp")).doesNotContain("secret");
      assertThat(one.user()).isNotEqualTo(two.user()).isNotZero();
      assertThat(one.attempt("user")).isNotEqualTo("0");
    }
  }

  /** The numbers of other architectures would not be in the list. */
  @Test
  void aCallOfAnotherArchitectureEndsIt() throws Exception {
    HostileClient alice = alice();
    assertThatThrownBy(() -> alice.attempt("call " + (0x40000000 + 39)))
        .isInstanceOf(IOException.class);
    alice.close();
  }
}
