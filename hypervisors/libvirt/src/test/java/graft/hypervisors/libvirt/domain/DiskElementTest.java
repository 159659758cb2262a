package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class DiskElementTest {

  @Test
  void imageFile() {
    DiskSpec disk = DiskSpec.file("/images/a.qcow2", DiskSpec.Format.QCOW2);
    assertThat(Built.by(devices -> DiskElement.append(devices, disk, "qemu", "vda", "virtio")))
        .isEqualTo(
            """
            <disk device='disk' type='file'>
              <driver name='qemu' type='qcow2'/>
              <source file='/images/a.qcow2'/>
              <target bus='virtio' dev='vda'/>
            </disk>
            """);
  }

  @Test
  void blockDevice() {
    DiskSpec disk =
        new DiskSpec(
            new DiskSpec.BlockDevice("/dev/vg/a"), DiskSpec.Format.RAW, DiskSpec.Kind.DISK, false);
    assertThat(Built.by(devices -> DiskElement.append(devices, disk, "phy", "xvda", "xen")))
        .isEqualTo(
            """
            <disk device='disk' type='block'>
              <driver name='phy' type='raw'/>
              <source dev='/dev/vg/a'/>
              <target bus='xen' dev='xvda'/>
            </disk>
            """);
  }

  @Test
  void volumeOfAPool() {
    DiskSpec disk = DiskSpec.volume("graft", "a.qcow2", DiskSpec.Format.QCOW2);
    assertThat(Built.by(devices -> DiskElement.append(devices, disk, "qemu", "vda", "virtio")))
        .isEqualTo(
            """
            <disk device='disk' type='volume'>
              <driver name='qemu' type='qcow2'/>
              <source pool='graft' volume='a.qcow2'/>
              <target bus='virtio' dev='vda'/>
            </disk>
            """);
  }

  @Test
  void cdromIsReadOnly() {
    DiskSpec disk =
        new DiskSpec(
            new DiskSpec.ImageFile("/seed.iso"), DiskSpec.Format.RAW, DiskSpec.Kind.CDROM, false);
    assertThat(Built.by(devices -> DiskElement.append(devices, disk, "qemu", "sda", "sata")))
        .isEqualTo(
            """
            <disk device='cdrom' type='file'>
              <driver name='qemu' type='raw'/>
              <source file='/seed.iso'/>
              <target bus='sata' dev='sda'/>
              <readonly/>
            </disk>
            """);
  }

  @Test
  void serialNumber() {
    DiskSpec disk = DiskSpec.file("/data.raw", DiskSpec.Format.RAW).withSerial("data-1");
    assertThat(Built.by(devices -> DiskElement.append(devices, disk, "qemu", "vdb", "virtio")))
        .isEqualTo(
            """
            <disk device='disk' type='file'>
              <driver name='qemu' type='raw'/>
              <source file='/data.raw'/>
              <target bus='virtio' dev='vdb'/>
              <serial>data-1</serial>
            </disk>
            """);
  }

  @Test
  void serialNumbersThatTheGuestWouldSeeOtherwiseAreRefused() {
    DiskSpec disk = DiskSpec.file("/data.raw", DiskSpec.Format.RAW);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> disk.withSerial("a".repeat(21)))
        .withMessageContaining("longer than 20 characters");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> disk.withSerial("a\nb"))
        .withMessageContaining("serial number");
  }

  @Test
  void relativePathsAreRefusedSinceLibvirtHasAnotherWorkingFolder() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DiskSpec.cdrom("seed.iso"))
        .withMessageContaining("absolute");
  }
}
