package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.Xml;
import graft.hypervisors.libvirt.storage.VolumeSpec;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class VolumeSpecTest {

  @Test
  void overlayOnAnImage() {
    VolumeSpec spec =
        VolumeSpec.overlay(
            "a.qcow2",
            MemorySize.ofGib(10),
            new VolumeSpec.Backing("/images/debian.qcow2", DiskSpec.Format.QCOW2));
    assertThat(Xml.print(spec.toXml()))
        .isEqualTo(
            """
            <volume>
              <name>a.qcow2</name>
              <allocation>0</allocation>
              <capacity>10737418240</capacity>
              <target>
                <format type='qcow2'/>
              </target>
              <backingStore>
                <path>/images/debian.qcow2</path>
                <format type='qcow2'/>
              </backingStore>
            </volume>
            """);
  }

  @Test
  void rawImagesHaveNothingBelow() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new VolumeSpec(
                    "a",
                    MemorySize.ofMib(1),
                    DiskSpec.Format.RAW,
                    Optional.of(new VolumeSpec.Backing("/b", DiskSpec.Format.RAW))))
        .withMessageContaining("only qcow2");
  }
}
