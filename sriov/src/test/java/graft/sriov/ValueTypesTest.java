package graft.sriov;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ValueTypesTest {

  @ParameterizedTest
  @CsvSource({
    "0000:3b:00.1,0000:3b:00.1",
    "3b:00.1,0000:3b:00.1",
    "10000:e1:1f.7,10000:e1:1f.7",
    "ffffffff:ff:1f.7,ffffffff:ff:1f.7",
    "ABCD:0A:00.0,abcd:0a:00.0"
  })
  void anAddressIsPrintedAsTheKernelPrintsIt(String text, String printed) {
    assertThat(PciAddress.parse(text)).hasToString(printed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "3b:00",
        "0000:3b:00",
        "0000:3b:20.0",
        "0000:3b:00.8",
        "x:3b:00.0",
        "0000:3:0.0"
      })
  void whatIsNoAddressIsRefused(String text) {
    assertThatThrownBy(() -> PciAddress.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0000:3b:00.1");
  }

  @Test
  void virtualFunctionsAreCountedAcrossDevicesAndBuses() {
    PciAddress pf = PciAddress.parse("0000:3b:00.0");
    assertThat(pf.plus(1)).hasToString("0000:3b:00.1");
    assertThat(pf.plus(126)).hasToString("0000:3b:0f.6");
    assertThat(pf.plus(256)).hasToString("0000:3c:00.0");
    assertThatThrownBy(() -> PciAddress.parse("0000:ff:1f.7").plus(1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void addressesAreOrderedByNumberAndNotByText() {
    assertThat(PciAddress.parse("10000:00:00.0")).isGreaterThan(PciAddress.parse("ffff:00:00.0"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0c:42:a1:03:00:16:9f:8e", "0c42:a103:0016:9f8e", "0x0c42a10300169f8e"})
  void aGuidIsReadInTheFormsThatToolsPrint(String text) {
    assertThat(Guid.parse(text)).hasToString("0c:42:a1:03:00:16:9f:8e");
    assertThat(Guid.parse(text).toSysfs()).isEqualTo("0c42:a103:0016:9f8e");
  }

  @ParameterizedTest
  @CsvSource({
    "00:00:00:00:00:00:00:00,zero",
    "ff:ff:ff:ff:ff:ff:ff:ff,all ones",
    "01:42:a1:03:00:16:9f:8e,multicast",
    "0c:42:a1:03:00:16:9f,not a GUID",
    "0c42a103:00169f8e,not a GUID"
  })
  void whatIsNoGuidIsRefusedWithTheReason(String text, String reason) {
    assertThatThrownBy(() -> Guid.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0 B",
    "512,512 B",
    "64GiB,64 GiB",
    "1536 M,1536 MiB",
    "1024k,1 MiB",
    "8589934591G,8589934591 GiB"
  })
  void memoryIsReadInPowersOf1024(String text, String printed) {
    assertThat(MemorySize.parse(text)).hasToString(printed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "1.5G", "64 GB", "8589934592G", "99999999999999999999"})
  void whatIsNoMemorySizeIsRefused(String text) {
    assertThatThrownBy(() -> MemorySize.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void settingsOfAVfAreTheSameAfterTheJournal() {
    VfSettings settings =
        VfSettings.NONE
            .withGuids(Guid.parse("0c42:a103:0016:9f8e"), Guid.parse("0c42:a103:0016:9f8f"))
            .withPolicy(VfPolicy.UP)
            .withMac(MacAddress.parse("02:00:00:00:00:01"))
            .withTrust(false)
            .withRate(new VfRate(10, 1000));
    assertThat(VfSettings.fromMap(settings.toMap())).isEqualTo(settings);
    assertThat(VfSettings.fromMap(VfSettings.NONE.toMap())).isEqualTo(VfSettings.NONE);
    assertThat(settings.notIn(settings)).isEqualTo(VfSettings.NONE);
    assertThat(settings.notIn(VfSettings.NONE)).isEqualTo(settings);
  }
}
