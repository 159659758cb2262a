package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PciAddressTest {

  @Test
  void readsAndPrintsTheKernelsForm() {
    assertThat(PciAddress.parse("0000:04:10.2")).isEqualTo(new PciAddress(0, 4, 0x10, 2));
    assertThat(PciAddress.parse("0000:AF:1F.7")).hasToString("0000:af:1f.7");
  }

  @Test
  void keepsDomainsOfMoreThanFourDigits() {
    assertThat(PciAddress.parse("10000:e1:00.0").nodeDeviceName()).isEqualTo("pci_10000_e1_00_0");
  }

  @Test
  void namesTheNodeDevice() {
    assertThat(PciAddress.parse("0000:04:10.2").nodeDeviceName()).isEqualTo("pci_0000_04_10_2");
  }

  @Test
  void sortsAsTheBusDoes() {
    assertThat(
            Stream.of("0001:00:00.0", "0000:04:10.2", "0000:04:02.0", "0000:04:10.0")
                .map(PciAddress::parse)
                .sorted()
                .map(PciAddress::toString))
        .containsExactly("0000:04:02.0", "0000:04:10.0", "0000:04:10.2", "0001:00:00.0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"04:10.0", "0000:04:10", "0000:04:20.0", "0000:04:10.8", "x", ""})
  void refusesAnyOtherForm(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PciAddress.parse(text))
        .withMessageContaining("lspci -D");
  }
}
