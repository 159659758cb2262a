package graft.sriov;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.MacAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ValueTypesTest {

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
