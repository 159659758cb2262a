package graft.common.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PciAddressTest {

  @ParameterizedTest
  @CsvSource({
    "0000:3b:00.1,0000:3b:00.1",
    "3b:00.1,0000:3b:00.1",
    "10000:e1:1f.7,10000:e1:1f.7",
    "ffffffff:ff:1f.7,ffffffff:ff:1f.7",
    "ABCD:0A:00.0,abcd:0a:00.0",
    "0000:AF:1F.7,0000:af:1f.7"
  })
  void anAddressIsPrintedAsTheKernelPrintsIt(String text, String printed) {
    assertThat(PciAddress.parse(text)).hasToString(printed);
  }

  @Test
  void itsPartsAreHexadecimal() {
    assertThat(PciAddress.parse("0000:04:10.2")).isEqualTo(new PciAddress(0, 4, 0x10, 2));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "3b:00",
        "0000:3b:00",
        "0000:04:10",
        "0000:3b:20.0",
        "0000:04:20.0",
        "0000:3b:00.8",
        "0000:04:10.8",
        "x:3b:00.0",
        "0000:3:0.0",
        " 0000:3b:00.1",
        "0000:3b:00.1\n"
      })
  void anyOtherFormIsRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PciAddress.parse(text))
        .withMessageContaining("lspci -D")
        .withMessageContaining("0000:3b:00.1");
  }

  @Test
  void virtualFunctionsAreCountedAcrossDevicesAndBuses() {
    PciAddress pf = PciAddress.parse("0000:3b:00.0");
    assertThat(pf.plus(1)).hasToString("0000:3b:00.1");
    assertThat(pf.plus(126)).hasToString("0000:3b:0f.6");
    assertThat(pf.plus(256)).hasToString("0000:3c:00.0");
    assertThatIllegalArgumentException().isThrownBy(() -> PciAddress.parse("0000:ff:1f.7").plus(1));
  }

  @Test
  void addressesAreOrderedByNumberAndNotByText() {
    assertThat(
            Stream.of(
                    "10000:00:00.0", "0001:00:00.0", "0000:04:10.2", "0000:04:02.0", "0000:04:10.0")
                .map(PciAddress::parse)
                .sorted()
                .map(PciAddress::toString))
        .containsExactly(
            "0000:04:02.0", "0000:04:10.0", "0000:04:10.2", "0001:00:00.0", "10000:00:00.0");
    assertThat(PciAddress.parse("10000:00:00.0")).isGreaterThan(PciAddress.parse("ffff:00:00.0"));
  }
}
