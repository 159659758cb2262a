package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class MacAddressTest {

  @Test
  void isLowerCase() {
    assertThat(new MacAddress("52:54:00:AA:BB:CC")).hasToString("52:54:00:aa:bb:cc");
  }

  @Test
  void refusesMulticast() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new MacAddress("53:54:00:aa:bb:cc"))
        .withMessageContaining("multicast");
  }

  @Test
  void refusesOtherForms() {
    assertThatIllegalArgumentException().isThrownBy(() -> new MacAddress("52-54-00-aa-bb-cc"));
    assertThatIllegalArgumentException().isThrownBy(() -> new MacAddress("52:54:00:aa:bb"));
  }
}
