package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
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
import org.junit.jupiter.api.parallel.Isolated;

/**
 * What a compromised worker cannot do. The worker is real, in its jail and with its filter of
 * system calls; the code that runs in it is hostile.
 */
@Timeout(120)
@Isolated("it counts the processes of this one")
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
      // The filter denies a call whatever its arguments, which may be wrong for the call itself.
      attempts(other)
          .forEach(
              (what, attempt) -> {
                if (attempt.startsWith("call ")) {
                  assertThat(outcomes.get(what))
                      .as(what)
                      .isIn("Operation not permitted", "Function not implemented");
                }
              });
      assertThat(ProcessHandle.of(other)).isPresent();
    }
  }

  /** The lines of jail-attempts.txt, by what is attempted. */
  private static Map<String, String> attempts(long other) throws IOException {
    Map<String, String> attempts = new LinkedHashMap<>();
    try (InputStream lines = JailTest.class.getResourceAsStream("/jail-attempts.txt")) {
      new String(lines.readAllBytes(), StandardCharsets.UTF_8)
          .replace("{server}", Long.toString(ProcessHandle.current().pid()))
          .replace("{other}", Long.toString(other))
          .replace("{tokens}", folder.resolve("tokens").toString())
          .replace("{java}", System.getProperty("java.home"))
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split(" = ", 2))
          .forEach(attempt -> attempts.put(attempt[0], attempt[1]));
    }
    assertThat(attempts).hasSizeGreaterThan(100);
    return attempts;
  }

  @Test
  void itSeesItsOwnProcessAndFilesAlone() throws Exception {
    try (HostileClient alice = alice()) {
      assertThat(alice.attempt("see /").split(" "))
          .contains("dev", "proc", "tmp", "usr")
          .doesNotContain("home", "var", "run", "boot");
      assertThat(alice.attempt("see /proc")).matches("\\d+ loadavg mounts net self");
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
