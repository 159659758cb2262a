package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeviceNameTest {

  @ParameterizedTest
  @CsvSource({"0, vda", "25, vdz", "26, vdaa", "27, vdab", "51, vdaz", "52, vdba", "701, vdzz"})
  void countsInLetters(int index, String name) {
    assertThat(DeviceName.of("vd", index)).isEqualTo(name);
  }
}
