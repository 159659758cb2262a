package graft.sriov.check;

import static org.assertj.core.api.Assertions.assertThat;

import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.files.Errno;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HardwareCheckTest {
  @TempDir private Path root;
  private FakeSysfs fake;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private SortedMap<String, String> first;

  @BeforeEach
  void host() {
    fake =
        new FakeSysfs(root)
            .loadDriver("vfio-pci")
            .add(FakeDevice.mlx5("0000:3b:00.0", 8))
            .add(FakeDevice.gpu("0000:41:00.0"));
    first = fake.state();
  }

  private int run(String... args) {
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    return new HardwareCheck(new HostAccess(fake, fake.links(), TimeLimits.DEFAULT), out).run(args);
  }

  private String printed() {
    return printed.toString(StandardCharsets.UTF_8).replaceAll("\\(\\d+ ms\\)", "(N ms)");
  }

  @Test
  void vfsAreMadeLookedAtAndTakenBack() {
    assertThat(run("vfs", "3b:00.0", "1", "mlx5_core")).isZero();
    assertThat(printed())
        .isEqualTo(
            """
            do   0000:3b:00.0: driver autoprobe of VFs off (N ms)
            do   0000:3b:00.0: 1 virtual functions (N ms)
            do   0000:3b:00.0: VF 0 gets node GUID 02:@@, port GUID 02:@@, link Follow (N ms)
            do   0000:3b:00.1: bind to mlx5_core (N ms)
            ok   VFs
                 the driver says: node GUID 02:@@, port GUID 02:@@, link Follow
            ok   driver of 0000:3b:00.1
                 0000:3b:00.1 has node GUID 02:@@
            ok   operations left
            undo 0000:3b:00.1: back to no driver (N ms)
            undo 0000:3b:00.0: the settings of VF 0 as they were (N ms)
            undo 0000:3b:00.0: back to 0 VFs as they were (N ms)
            undo 0000:3b:00.0: driver autoprobe of VFs on again (N ms)
            ok   the host as it was
            GOOD
            """
                .replace("02:@@", "02:@@".replace("@@", guid())));
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void mlx4HasToBeLoadedWithItsOptions() {
    fake.add(FakeDevice.mlx4("0000:05:00.0", 8)).reloadMlx4();
    assertThat(run("vfs", "05:00.0", "2")).isEqualTo(1);
    assertThat(printed())
        .startsWith(
            "FAILED 0000:05:00.0: mlx4 makes its VFs when its module is loaded and never later."
                + " Write 'options mlx4_core num_vfs=2 probe_vf=0' to"
                + " /etc/modprobe.d/graft-mlx4.conf and load it again: modprobe -r");
  }

  private static String guid() {
    return graft.sriov.plan.GuidScheme.DEFAULT
        .of(graft.sriov.Guid.parse("0c42:a103:0000:3b00"), 0)
        .toString()
        .substring(3);
  }

  @Test
  void vfsOfAnEthernetPortGetAddresses() {
    fake.add(FakeDevice.mlx5("0000:86:00.0", 2).ethernet());
    first = fake.state();
    assertThat(run("vfs", "0000:86:00.0", "2", "vfio-pci")).isZero();
    assertThat(printed())
        .contains("the driver says: link Follow, MAC 02:67:72:66:00:01, not trusted")
        .endsWith("GOOD\n");
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void aGpuGoesToVfioAndComesBack() {
    assertThat(run("passthrough", "0000:41:00.0")).isZero();
    assertThat(printed()).contains("ok   driver of 0000:41:00.0\n").endsWith("GOOD\n");
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void whatFailsIsSaidAndTakenBackAllTheSame() {
    fake.faults().fail("vfio-pci/bind", Errno.EINVAL, 1);
    assertThat(run("passthrough", "0000:41:00.0")).isEqualTo(1);
    assertThat(printed())
        .contains(
            "FAILED /sys/bus/pci/drivers/vfio-pci/bind: writing '0000:41:00.0' failed with EINVAL")
        .contains("undo 0000:41:00.0: back to nvidia (N ms)")
        .contains("ok   the host as it was")
        .endsWith("NOT GOOD\n");
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void aPfWithVfsIsLeftAlone() {
    fake.write("/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs", "2", java.time.Duration.ZERO);
    assertThat(run("vfs", "0000:3b:00.0", "1")).isEqualTo(1);
    assertThat(printed()).contains("it has VFs now");
  }

  @Test
  void lookSaysWhatThereIs() {
    assertThat(run("look")).isZero();
    assertThat(printed())
        .contains(
            "0000:3b:00.0 [15b3:101b] mlx5_core, 0 of 8 VFs, IOMMU group 0, node 0, reset by flr bus")
        .contains(
            "mlx5_3b_0 of 0000:3b:00.0, node GUID 0c:42:a1:03:00:00:3b:00, firmware 20.31.1014, port"
                + " 1 INFINIBAND ACTIVE 100 Gb/sec (4X EDR)")
        .contains("0000:41:00.0 /dev/nvidia0 NVIDIA A100-SXM4-40GB GPU-")
        .contains("OK vfio-pci: is loaded");
  }

  @Test
  void aWrongCommandLineIsAnsweredWithTheRightOnes() {
    assertThat(run("vfs")).isEqualTo(2);
    assertThat(run("vfs", "3b:00.0", "many")).isEqualTo(2);
    assertThat(printed()).contains("usage: look | vfs PF COUNT [DRIVER] | passthrough DEVICE");
  }
}
