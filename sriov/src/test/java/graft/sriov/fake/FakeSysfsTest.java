package graft.sriov.fake;

import static org.assertj.core.api.Assertions.assertThat;

import graft.sriov.files.WriteFailedException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that the fake behaves as Linux 6.1.0-50-amd64 did for the same writes in the lab, where
 * the physical function was QEMU's igb and the driver of its VFs igbvf.
 */
class FakeSysfsTest {
  private static final String PF = "/sys/bus/pci/devices/0000:04:00.0/";
  private static final String VF = "/sys/bus/pci/devices/0000:04:10.0/";
  private static final String IGB = "/sys/bus/pci/drivers/igb/";
  private static final String IGBVF = "/sys/bus/pci/drivers/igbvf/";

  @TempDir private Path root;
  private FakeSysfs fake;

  @BeforeEach
  void igb() {
    FakeDevice igb = FakeDevice.at("0000:04:00.0").ids(0x8086, 0x10c9).pciClass(0x020000);
    igb.offset = 0x80;
    igb.stride = 2;
    fake =
        new FakeSysfs(root)
            .loadDriver("vfio-pci")
            .add(igb.driver("igb").sriov(7, 0x10ca, "igbvf").resetMethod("flr pm bus"));
  }

  private String write(String path, String value) {
    try {
      fake.write(path, value, Duration.ofSeconds(1));
      return "ok";
    } catch (WriteFailedException e) {
      return e.errno().name();
    }
  }

  @Test
  void theNumberOfVfs() {
    assertThat(write(PF + "sriov_numvfs", "9999")).isEqualTo("ERANGE");
    assertThat(write(PF + "sriov_numvfs", "2")).isEqualTo("ok");
    assertThat(fake.list("/sys/bus/pci/devices")).contains("0000:04:10.0", "0000:04:10.2");
    assertThat(write(PF + "sriov_numvfs", "2")).isEqualTo("ok");
    assertThat(write(PF + "sriov_numvfs", "3")).isEqualTo("EBUSY");
    assertThat(write(PF + "sriov_numvfs", "x")).isEqualTo("EINVAL");
    assertThat(write(PF + "sriov_drivers_autoprobe", "7")).isEqualTo("EINVAL");
    assertThat(write(PF + "vendor", "1")).isEqualTo("EACCES");
  }

  @Test
  void driversOfAVfWithoutAutoprobe() {
    assertThat(write(PF + "sriov_drivers_autoprobe", "0")).isEqualTo("ok");
    assertThat(write(PF + "sriov_numvfs", "2")).isEqualTo("ok");
    assertThat(fake.linkName(VF + "driver")).isEmpty();
    assertThat(write(IGBVF + "bind", "0000:04:10.0")).isEqualTo("ENODEV");
    assertThat(write(IGBVF + "unbind", "0000:04:10.0")).isEqualTo("ENODEV");
    assertThat(write("/sys/bus/pci/drivers/vfio-pci/bind", "0000:04:10.0")).isEqualTo("ENODEV");
    assertThat(write("/sys/bus/pci/drivers_probe", "0000:04:10.0")).isEqualTo("ok");
    assertThat(fake.linkName(VF + "driver")).as("and no driver took it").isEmpty();
    assertThat(write("/sys/bus/pci/drivers_probe", "0000:99:10.0")).isEqualTo("ENODEV");

    assertThat(write(VF + "driver_override", "igbvf")).isEqualTo("ok");
    assertThat(write(IGBVF + "bind", "0000:04:10.0")).isEqualTo("ok");
    assertThat(write(IGBVF + "bind", "0000:04:10.0")).isEqualTo("EBUSY");
    assertThat(write(IGBVF + "bind", "0000:99:10.0")).isEqualTo("ENODEV");
    assertThat(write(VF + "driver_override", "")).isEqualTo("ok");
    assertThat(fake.read(VF + "driver_override")).contains("(null)");

    assertThat(write(VF + "driver_override", "vfio-pci")).isEqualTo("ok");
    assertThat(write(IGBVF + "unbind", "0000:04:10.0")).isEqualTo("ok");
    assertThat(write(IGBVF + "bind", "0000:04:10.0")).isEqualTo("ENODEV");
    assertThat(write("/sys/bus/pci/drivers_probe", "0000:04:10.0")).isEqualTo("ok");
    assertThat(fake.linkName(VF + "driver")).contains("vfio-pci");
    assertThat(fake.list("/dev/vfio")).hasSize(1);
  }

  @Test
  void aPhysicalFunctionWithoutItsDriver() {
    write(PF + "sriov_numvfs", "2");
    write(PF + "sriov_drivers_autoprobe", "0");
    assertThat(write(IGB + "unbind", "0000:04:00.0")).isEqualTo("ok");
    assertThat(fake.read(PF + "sriov_numvfs")).contains("0");
    assertThat(fake.list("/sys/bus/pci/devices")).containsExactly("0000:04:00.0");
    assertThat(write(PF + "sriov_numvfs", "1")).isEqualTo("ENOENT");
    assertThat(write(PF + "sriov_numvfs", "0")).isEqualTo("ok");
    assertThat(write(IGB + "bind", "0000:04:00.0")).isEqualTo("ok");
    assertThat(fake.read(PF + "sriov_drivers_autoprobe")).as("is kept").contains("0");
  }

  @Test
  void resetMethods() {
    assertThat(write(PF + "reset_method", "magic")).isEqualTo("EINVAL");
    assertThat(write(PF + "reset_method", "flr")).isEqualTo("ok");
    assertThat(fake.read(PF + "reset_method")).contains("flr");
    assertThat(write(PF + "reset_method", "default")).isEqualTo("ok");
    assertThat(fake.read(PF + "reset_method")).contains("flr pm bus");
  }

  /**
   * This behaviour was not observed in the lab but follows from new_id_store in
   * drivers/pci/pci-driver.c.
   */
  @Test
  void aNewIdMakesTheDriverTakeWhatIsFree() {
    write(PF + "sriov_drivers_autoprobe", "1");
    write(PF + "sriov_numvfs", "1");
    assertThat(write(IGBVF + "unbind", "0000:04:10.0")).isEqualTo("ok");
    assertThat(write("/sys/bus/pci/drivers/vfio-pci/new_id", "8086 10CA")).isEqualTo("ok");
    assertThat(fake.linkName(VF + "driver")).contains("vfio-pci");
  }
}
