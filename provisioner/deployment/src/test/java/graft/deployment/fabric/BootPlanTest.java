package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.plan.Plan;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which deployments are applied again when the host boots. */
class BootPlanTest {
  private static final String FABRIC =
      """
      graft: 1
      name: lab
      fabric:
        persistent: true
        adapters:
          - {name: ib0, device: mlx5_3b_0, vfs: 2}
      """;

  /** Before the guests themselves. */
  private static final String GUESTS = "graft: 1\nname: lab\nautostart: true\n";

  private static final String GUEST =
      """
      guests:
        - name: alice
          image: debian.qcow2
          memory: 1GiB
          setup: none
      """;

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private DeviceHost host;

  @BeforeEach
  void anAdapter() {
    host = new DeviceHost(folder);
    host.fake.node(0, "0-7", 65536).add(FakeDevice.mlx5("0000:3b:00.0", 8).numa(0));
  }

  @Test
  void aDeploymentIsAppliedAtBootWhereThereIsASystemd() throws Exception {
    isAppliedAtBoot(FABRIC);
  }

  @Test
  void soIsOneOfGuestsAloneThatStartByThemselves() throws Exception {
    isAppliedAtBoot(GUESTS + GUEST);
  }

  private void isAppliedAtBoot(String descriptor) throws Exception {
    host.fake.file("/run/systemd/system/x", "");
    String home = System.getProperty("graft.home", "");
    Path program = folder.resolve("opt/bin/graft");
    Files.createDirectories(program.getParent());
    Files.createFile(
        program,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    System.setProperty("graft.home", folder.resolve("opt").toString());
    try {
      SortedMap<String, String> first = host.fake.state();
      host.apply(host.plan(descriptor));
      assertThat(host.fake.read("/etc/systemd/system/graft-lab.service").orElse(""))
          .contains("ExecStart=\"" + program + "\" apply \"/d/lab.yaml\"");
      assertThat(DeviceHost.lines(host.plan(descriptor))).isEmpty();
      host.undo("lab");
      assertThat(host.fake.state()).isEqualTo(first);
    } finally {
      System.setProperty("graft.home", home);
    }
  }

  @Test
  void guestsThatDoNotStartByThemselvesHaveNoUnit() throws Exception {
    host.fake.file("/run/systemd/system/x", "");
    Plan plan = host.plan(GUESTS.replace("true", "false") + GUEST);
    assertThat(plan.toText()).doesNotContain("boot");
  }

  @Test
  void whereGuestsCannotStartByThemselvesThePlanSaysSo() throws Exception {
    assertThat(host.plan(GUESTS + GUEST).warnings()).contains(BootUnit.NO_SYSTEMD);
    host.session();
    assertThat(host.plan(GUESTS + GUEST).warnings()).contains(BootUnit.NOT_ROOT);
  }
}
