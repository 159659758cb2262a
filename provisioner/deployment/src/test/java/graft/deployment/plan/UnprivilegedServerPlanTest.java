package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.deployment.step.host.RunServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
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
  private String homeBefore;

  @BeforeEach
  void files() {
    homeBefore = System.getProperty("graft.home");
    host.file("/d/vmlinuz");
    host.file("/d/initramfs.cpio");
  }

  private void install() throws Exception {
    Path lib = Files.createDirectories(folder.resolve("home/lib"));
    Files.createFile(
        lib.resolve("graft-starter"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    System.setProperty("graft.home", folder.resolve("home").toString());
    assumeTrue(RunServer.starter().isPresent(), "others cannot enter the temporary folder");
  }

  @AfterEach
  void forget() {
    if (homeBefore == null) {
      System.clearProperty("graft.home");
    } else {
      System.setProperty("graft.home", homeBefore);
    }
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
        .contains("create the system user 'graft'")
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
}
