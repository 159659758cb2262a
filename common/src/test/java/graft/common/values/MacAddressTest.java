package graft.common.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MacAddressTest {

  @Test
  void isLowerCase() {
    assertThat(MacAddress.parse("52:54:00:AA:BB:CC")).hasToString("52:54:00:aa:bb:cc");
  }

  @Test
  void refusesMulticast() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MacAddress.parse("53:54:00:aa:bb:cc"))
        .withMessageContaining("multicast");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "52-54-00-aa-bb-cc",
        "52:54:00:aa:bb",
        "52:54:00:aa:bb:cc:dd",
        "00:00:00:00:00:00",
        " 52:54:00:aa:bb:cc",
        ""
      })
  void refusesOtherForms(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> MacAddress.parse(text));
  }
}
