package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import graft.common.values.PciAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostdevElementTest {

  private static final String EXPECTED =
      """
      <hostdev managed='no' mode='subsystem' type='pci'>
        <source>
          <address bus='0xaf' domain='0x10000' function='0x2' slot='0x1f'/>
        </source>
      </hostdev>
      """;

  private static final HostdevSpec SPEC = new HostdevSpec.Pci(PciAddress.parse("10000:af:1f.2"));

  @Test
  void neverManaged() {
    assertThat(Built.by(devices -> HostdevElement.append(devices, SPEC))).isEqualTo(EXPECTED);
  }

  @Test
  void aMediatedDeviceIsKnownByItsUuid() {
    HostdevSpec spec = HostdevSpec.parse("6f4f4f4f-0000-0000-0000-000000000001");
    assertThat(Xml.print(HostdevElement.create(spec)))
        .contains("model='vfio-pci'")
        .contains("type='mdev'")
        .contains("<address uuid='6f4f4f4f-0000-0000-0000-000000000001'/>");
  }

  @ParameterizedTest
  @ValueSource(strings = {"04:10.0", "0000:04:10", "0000:04:20.0", "0000:04:10.8", "x", ""})
  void aDeviceIsReadOnlyAsItIsPrinted(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> HostdevSpec.parse(text));
  }

  @Test
  void readsWhatAGuestHasHoweverItWasGiven() {
    String xml =
        """
        <domain>
          <devices>
            <interface type='network'><source network='default'/></interface>
            <interface type='hostdev'>
              <source><address type='pci' domain='0x0000' bus='0x3b' slot='0x00' function='0x2'/></source>
            </interface>
            <hostdev mode='subsystem' type='usb'><source><vendor id='0x1'/></source></hostdev>
            <hostdev mode='subsystem' type='pci'>
              <source><address domain='0x10000' bus='0xaf' slot='0x1f' function='0x2'/></source>
              <address type='pci' domain='0x0000' bus='0x05' slot='0x00' function='0x0'/>
            </hostdev>
            <hostdev mode='subsystem' type='mdev' model='vfio-pci'>
              <source><address uuid='6f4f4f4f-0000-0000-0000-000000000001'/></source>
            </hostdev>
          </devices>
        </domain>
        """;
    assertThat(HostdevElement.read(Xml.parse(xml).getDocumentElement()))
        .extracting(Object::toString)
        .containsExactly("10000:af:1f.2", "6f4f4f4f-0000-0000-0000-000000000001", "0000:3b:00.2");
  }

  @Test
  void readsWhatAContainerHas() {
    String xml =
        """
        <domain>
          <devices>
            <hostdev mode='capabilities' type='net'><source><interface>eth7</interface></source></hostdev>
            <hostdev mode='capabilities' type='misc'><source><char>/dev/a</char></source></hostdev>
            <hostdev mode='capabilities' type='storage'><source><block>/dev/b</block></source></hostdev>
            <hostdev mode='capabilities' type='net'><source><interface>a/b</interface></source></hostdev>
          </devices>
        </domain>
        """;
    assertThat(HostdevElement.read(Xml.parse(xml).getDocumentElement()))
        .containsExactly(new HostdevSpec.Interface("eth7"), new HostdevSpec.Node("/dev/a"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/b", "a:1", "a b", "sixteen-is-much-"})
  void anInterfaceHasANameOfTheKernels(String name) {
    assertThatIllegalArgumentException().isThrownBy(() -> new HostdevSpec.Interface(name));
  }

  @Test
  void standsAloneToBePluggedIn() {
    assertThat(Xml.print(HostdevElement.create(SPEC))).isEqualTo(EXPECTED);
  }
}
