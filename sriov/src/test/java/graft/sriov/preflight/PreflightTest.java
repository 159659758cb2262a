package graft.sriov.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.host.HostPci;
import graft.sriov.preflight.Finding.Level;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreflightTest {
  private static final String PORT = "mlx5_3b_0 port 1";

  @TempDir private Path root;
  private FakeSysfs fake;

  @BeforeEach
  void anEmptyHost() {
    fake = new FakeSysfs(root);
  }

  private Finding finding(String subject) {
    return Preflight.check(fake, HostPci.read(fake)).stream()
        .filter(found -> found.subject().equals(subject))
        .findFirst()
        .orElseThrow();
  }

  private void withoutIommu(String commandLine) {
    fake.add(FakeDevice.gpu("0000:41:00.0").withoutGroup()).file("/proc/cmdline", commandLine);
  }

  @Test
  void anIommuInUse() {
    fake.add(FakeDevice.gpu("0000:41:00.0")).file("/proc/cmdline", "root=/dev/sda1 iommu=pt");
    assertThat(finding("IOMMU").level()).isEqualTo(Level.OK);
    fake.file("/proc/cmdline", "root=/dev/sda1");
    assertThat(finding("IOMMU").commands()).contains("update-grub && reboot");
  }

  @Test
  void anIommuThatTheFirmwareHasOff() {
    withoutIommu("root=/dev/sda1");
    assertThat(finding("IOMMU"))
        .hasToString(
            """
            PROBLEM IOMMU: the firmware shows none (neither ACPI table DMAR nor IVRS)
                turn VT-d (Intel) or AMD-Vi/IOMMU (AMD) on in the BIOS""");
  }

  @Test
  void anIommuThatTheKernelDoesNotUse() {
    withoutIommu("root=/dev/sda1");
    fake.file("/sys/firmware/acpi/tables/DMAR", "DMAR");
    assertThat(finding("IOMMU").commands().get(0)).endsWith("add intel_iommu=on iommu=pt");
  }

  @Test
  void anIommuThatTheCommandLineTurnsOff() {
    withoutIommu("amd_iommu=off quiet");
    fake.file("/sys/firmware/acpi/tables/IVRS", "IVRS");
    assertThat(finding("IOMMU").commands().get(0)).endsWith("remove amd_iommu=off");
  }

  @Test
  void anIommuThatOughtToWork() {
    withoutIommu("intel_iommu=on");
    fake.file("/sys/firmware/acpi/tables/DMAR", "DMAR");
    assertThat(finding("IOMMU").commands().get(0)).startsWith("dmesg");
  }

  @Test
  void vfio() {
    assertThat(finding("vfio-pci").commands()).contains("modprobe vfio-pci");
    fake.loadDriver("vfio-pci");
    assertThat(finding("vfio-pci").level()).isEqualTo(Level.OK);
  }

  @Test
  void firmwareWithoutVfsComesWithTheCommandsThatMendIt() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 0));
    assertThat(finding("0000:3b:00.0"))
        .hasToString(
            """
            PROBLEM 0000:3b:00.0: its firmware offers no virtual functions
                mlxconfig -d 0000:3b:00.0 query SRIOV_EN NUM_OF_VFS LINK_TYPE_P1
                mlxconfig -d 0000:3b:00.0 set SRIOV_EN=1 NUM_OF_VFS=16 LINK_TYPE_P1=1
                mlxfwreset -d 0000:3b:00.0 reset   # or reboot""");
  }

  @Test
  void anAdapterWithVfsSaysHowTheyAreSet() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8)).add(FakeDevice.mlx5("0000:5e:00.0", 8).ofed());
    assertThat(finding("0000:3b:00.0").text()).contains("by netlink on ibp59s0f0");
    assertThat(finding("0000:5e:00.0").text()).contains("by the files of the out-of-tree driver");
    fake.deleteFile("/sys/bus/pci/devices/0000:3b:00.0/net");
    assertThat(finding("0000:3b:00.0").commands()).containsExactly("modprobe ib_ipoib");
  }

  @Test
  void anAdapterWithoutADriver() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8).driver(null))
        .add(FakeDevice.mlx4("0000:05:00.0", 0).sriov(4, 0x1004, "mlx4_core").driver(null));
    assertThat(finding("0000:3b:00.0").commands()).containsExactly("modprobe mlx5_core");
    assertThat(finding("0000:05:00.0").commands()).containsExactly("modprobe mlx4_core");
  }

  private void portSays(String file, String content) {
    fake.file("/sys/bus/pci/devices/0000:3b:00.0/infiniband/mlx5_3b_0/ports/1/" + file, content);
  }

  private void opensmHere() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8)).process(600, "opensm");
    portSays("lid", "0x2");
  }

  @Test
  void noSubnetManager() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8));
    portSays("sm_lid", "0x0");
    portSays("state", "2: INIT");
    assertThat(finding(PORT).level()).isEqualTo(Level.PROBLEM);
    assertThat(finding(PORT).text()).contains("no subnet manager").contains("INIT");
  }

  @Test
  void noLink() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8));
    portSays("phys_state", "2: Polling");
    assertThat(finding(PORT).text()).startsWith("no link (Polling)");
  }

  @Test
  void aSubnetManagerElsewhereCannotBeAsked() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8));
    assertThat(finding(PORT).level()).isEqualTo(Level.WARNING);
    assertThat(finding(PORT).text()).contains("at LID 2");
  }

  @Test
  void theCommunitysOpensmDoesNotHandleVirtualPorts() {
    opensmHere();
    fake.file("/usr/sbin/opensm", "\u007fELF lash_start_vl sm_priority");
    assertThat(finding(PORT).level()).isEqualTo(Level.PROBLEM);
    assertThat(finding(PORT).text()).contains("is the community's");
  }

  @Test
  void nvidiasOpensmDoesWhenItIsToldTo() {
    opensmHere();
    fake.file("/usr/sbin/opensm", "\u007fELF lash_start_vl virt_enabled virt_max_ports_in_process");
    assertThat(finding(PORT).text()).contains("nothing says virt_enabled 2");
    fake.file("/etc/opensm/opensm.conf", "# virt_enabled 2\nvirt_enabled 0");
    assertThat(finding(PORT).text()).contains("/etc/opensm/opensm.conf says virt_enabled 0");
    fake.file("/etc/opensm/opensm.conf", "# Virtualization support\nvirt_enabled 2");
    assertThat(finding(PORT).level()).isEqualTo(Level.OK);
  }

  @Test
  void ethernetPortsNeedNone() {
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8).ethernet());
    assertThat(Preflight.check(fake, HostPci.read(fake)))
        .noneMatch(found -> found.subject().contains("port"));
  }
}
