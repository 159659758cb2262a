package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.InstalledGraft;
import graft.deployment.step.Step;
import graft.deployment.step.host.RunServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Which servers run as the user {@code graft}, and what a plan does for that. */
class UnprivilegedServerPlanTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          memory: 256MiB
          vgpu: gpu0
      """;

  @TempDir Path folder;
  private final FakeHost host = new FakeHost();

  @RegisterExtension final InstalledGraft installed = new InstalledGraft();

  @BeforeEach
  void files() {
    host.file("/d/vmlinuz");
    host.file("/d/initramfs.cpio");
  }

  private void install() throws Exception {
    installed.in(folder);
  }

  private static List<String> of(Plan plan) {
    return plan.actions().stream()
        .map(action -> action.kind() + " " + action.step().id())
        .filter(line -> !line.contains("guest/") && !line.endsWith("/closed-network"))
        .toList();
  }

  @Test
  void systemdGetsUnitsInTheOrderInWhichTheyNeedEachOther() throws Exception {
    install();
    host.systemd();
    assertThat(of(host.plan(LAB)))
        .containsExactly(
            "DO user/graft/create",
            "DO server/gpu0/unit-graft-starter",
            "DO server/gpu0/unit-graft-server",
            "DO server/gpu0/server");
    assertThat(host.plan(LAB).toText())
        .contains("ensure the system user 'graft'")
        .contains("graft-server@lab.gpu0.service, which the host starts at boot");
    assertThat(
            host.plan(LAB.replace("software}", "software, server: {autostart: false}}")).toText())
        .doesNotContain("at boot");
    host.carryOut(host.plan(LAB));
    assertThat(host.plan(LAB).actions()).isEmpty();
  }

  @Test
  void aUnitThatWasEditedIsWrittenAgain() throws Exception {
    install();
    host.systemd().carryOut(host.plan(LAB)).unitsEdited();
    assertThat(of(host.plan(LAB))).contains("DO server/gpu0/unit-graft-server");
  }

  @Test
  void withoutSystemdTheStarterIsTheServersParent() throws Exception {
    install();
    assertThat(of(host.plan(LAB))).containsExactly("DO user/graft/create", "DO server/gpu0/server");
    assertThat(host.plan(LAB).toText()).contains("as user 'graft'");
    host.carryOut(host.plan(LAB)).serverDied();
    assertThat(of(host.plan(LAB))).containsExactly("DO server/gpu0/server");
  }

  @Test
  void anotherUsersServerRunsAsThatUser() throws Exception {
    install();
    host.session();
    assertThat(of(host.plan(LAB))).containsExactly("DO server/gpu0/server");
    assertThat(host.plan(LAB).toText()).doesNotContain("user 'graft'");
  }

  @Test
  void aGraftThatOthersCannotReadServesAsRootAndThePlanSaysSo() throws Exception {
    install();
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    assertThat(of(host.plan(LAB))).containsExactly("DO server/gpu0/server");
    assertThat(host.plan(LAB).toText()).contains("the server of 'gpu0' runs as root");
  }

  @Test
  void aServerOfAnOlderGraftIsReplacedWithoutTouchingGuests() throws Exception {
    host.carryOut(host.plan(LAB));
    install();
    Plan plan = host.plan(LAB);
    assertThat(of(plan))
        .containsExactly(
            "UNDO server/gpu0/server", "DO user/graft/create", "DO server/gpu0/server");
    assertThat(plan.actions())
        .extracting(action -> action.kind() + " " + action.step().id())
        .filteredOn(line -> line.contains("guest/"))
        .containsExactly("DO guest/alice/access-gpu0");
  }

  private static final String LIMITED =
      LAB.replace(
          "device: software}",
          "device: software, server: {limits: {sessions: 8, guest-sessions: 2, guest-memory: 1GiB,"
              + " host-memory: 1GiB, guest-host-memory: 2GiB, idle-timeout: 30m, queue-timeout: 10m,"
              + " kept-data: 256MiB},"
              + " audit: file}}");

  private static List<String> options(Plan plan) {
    Step step =
        plan.actions().stream()
            .map(Action::step)
            .filter(s -> s.name().equals("server"))
            .findFirst()
            .orElseThrow();
    return ((RunServer) step).options();
  }

  @Test
  void theServersLimitsAreItsOptions() throws Exception {
    install();
    assertThat(options(host.plan(LAB))).isEmpty();
    assertThat(options(host.plan(LIMITED)))
        .containsExactly(
            "--max-sessions",
            "8",
            "--max-guest-sessions",
            "2",
            "--guest-memory",
            "1GiB",
            "--host-memory",
            "1GiB",
            "--guest-host-memory",
            "2GiB",
            "--idle-timeout",
            "30m",
            "--queue-timeout",
            "10m",
            "--kept-data",
            "256MiB",
            "--audit",
            "/var/log/graft/lab.gpu0/audit.jsonl");
    assertThat(options(host.plan(LIMITED.replace("audit: file", "audit: syslog"))))
        .endsWith("--audit", "syslog");
    assertThat(options(host.plan(LIMITED.replace("audit: file", "audit: off"))))
        .endsWith("--audit", "off");
    assertThat(options(host.plan(LIMITED.replace("audit: file", "sensors: false"))))
        .endsWith("--sensors", "off");
    assertThat(options(host.plan(LIMITED.replace("audit: file", "spare-context: false"))))
        .endsWith("--spare-context", "off");
    assertThat(options(host.plan(LIMITED.replace("audit: file", "profiler-library: /l/c.so.13"))))
        .endsWith("--profiler-library", "/l/c.so.13");
    assertThat(options(host.plan(LIMITED.replace("audit: file", "watchdog: 30s"))))
        .endsWith("--watchdog", "30s");
    assertThat(
            options(
                host.plan(LIMITED.replace("audit: file", "metrics: false, session-log: false"))))
        .endsWith("--metrics", "off", "--session-log", "off");
    assertThat(options(host.plan(LIMITED.replace("audit: file", "accounting: true"))))
        .endsWith("--accounting", "/var/log/graft/lab.gpu0/accounting.jsonl");
  }

  @Test
  void aChangedLimitOfAServerStartsThatServerAgainAndNoGuest() throws Exception {
    install();
    host.carryOut(host.plan(LIMITED));
    assertThat(host.plan(LIMITED).actions()).isEmpty();
    Plan plan = host.plan(LIMITED.replace("idle-timeout: 30m", "idle-timeout: 1h"));
    assertThat(of(plan)).containsExactly("UNDO server/gpu0/server", "DO server/gpu0/server");
    assertThat(plan.toText()).contains("start its server").contains("(changed)");
    assertThat(plan.actions())
        .extracting(action -> action.kind() + " " + action.step().id())
        .filteredOn(line -> line.contains("guest/"))
        .containsExactly("DO guest/alice/access-gpu0");
  }

  @Test
  void aProfilingLibraryStartsTheServerAgainAndIsShown() throws Exception {
    install();
    host.systemd().carryOut(host.plan(LIMITED));
    Plan plan = host.plan(LIMITED.replace("audit: file", "profiler-library: /l/c.so.13"));
    assertThat(of(plan))
        .contains(
            "UNDO server/gpu0/server",
            "DO server/gpu0/unit-graft-starter",
            "DO server/gpu0/unit-graft-server",
            "DO server/gpu0/server");
    assertThat(plan.toText()).contains("(device software, profiling library /l/c.so.13)");
    host.carryOut(plan);
    assertThat(host.plan(LIMITED.replace("audit: file", "profiler-library: /l/c.so.13")).actions())
        .isEmpty();
  }

  @Test
  void aChangedLimitOfAGuestIsReadByTheServerThatRuns() throws Exception {
    install();
    host.carryOut(host.plan(LAB));
    Plan plan =
        host.plan(LAB.replace("vgpu: gpu0", "vgpu: {gpu: gpu0, memory: 1GiB, sessions: 3}"));
    assertThat(plan.actions())
        .extracting(action -> action.kind() + " " + action.step().id())
        .containsExactly("DO guest/alice/access-gpu0");
    assertThat(plan.toText()).contains("memory=1073741824 guest-memory=1073741824 max-sessions=3");
  }
}
