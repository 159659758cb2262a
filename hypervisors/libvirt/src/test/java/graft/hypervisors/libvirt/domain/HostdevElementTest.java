package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostdevElementTest {

  private static final String EXPECTED =
      """
      <hostdev managed='no' mode='subsystem' type='pci'>
        <source>
          <address bus='0xaf' domain='0x10000' function='0x2' slot='0x1f'/>
        </source>
      </hostdev>
      """;

  private static final HostdevSpec SPEC = new HostdevSpec(PciAddress.parse("10000:af:1f.2"));

  @Test
  void neverManaged() {
    assertThat(Built.by(devices -> HostdevElement.append(devices, SPEC))).isEqualTo(EXPECTED);
  }

  @Test
  void standsAloneToBePluggedIn() {
    assertThat(Xml.print(HostdevElement.create(SPEC))).isEqualTo(EXPECTED);
  }
}
