package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import graft.common.values.PciAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class NodeDeviceXmlTest {

  private static final PciAddress PF = PciAddress.parse("0000:65:00.0");
  private static final PciAddress VF = PciAddress.parse("0000:65:00.1");

  @Test
  void readsAPhysicalFunction() {
    assertThat(NodeDeviceXml.pci(TestResource.text("nodedev-pf.xml")))
        .isEqualTo(
            new NodeDevice(
                "pci_0000_65_00_0",
                PF,
                Optional.of("mlx5_core"),
                0x15b3,
                0x101b,
                Optional.of("MT28908 Family [ConnectX-6]"),
                OptionalInt.of(0x020700),
                OptionalInt.of(11),
                OptionalInt.of(1),
                Optional.empty(),
                List.of(VF, PciAddress.parse("0000:65:00.2"))));
  }

  @Test
  void readsAVirtualFunctionWithoutDriverAndIommu() {
    assertThat(NodeDeviceXml.pci(TestResource.text("nodedev-vf.xml")))
        .isEqualTo(
            new NodeDevice(
                "pci_0000_65_00_1",
                VF,
                Optional.empty(),
                0x15b3,
                0x101c,
                Optional.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                Optional.of(PF),
                List.of()));
  }

  @Test
  void namesTheNodeDeviceOfAnAddress() {
    assertThat(NodeDevices.name(PciAddress.parse("0000:04:10.2"))).isEqualTo("pci_0000_04_10_2");
    assertThat(NodeDevices.name(PciAddress.parse("10000:e1:00.0"))).isEqualTo("pci_10000_e1_00_0");
  }

  @Test
  void refusesDevicesOfOtherBuses() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> NodeDeviceXml.pci("<device><name>usb_1</name><capability type='usb'/></device>"));
  }
}
