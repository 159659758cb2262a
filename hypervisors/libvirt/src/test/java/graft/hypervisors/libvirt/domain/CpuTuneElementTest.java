package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class CpuTuneElementTest {

  @Test
  void pinsInTheOrderOfTheVirtualCpus() {
    CpuTune tune =
        new CpuTune(
            new TreeMap<>(Map.of(1, CpuSet.parse("5"), 0, CpuSet.parse("4,20"))),
            Optional.of(CpuSet.parse("0-3")));
    assertThat(Built.by(domain -> CpuTuneElement.append(domain, tune)))
        .isEqualTo(
            """
            <cputune>
              <vcpupin cpuset='4,20' vcpu='0'/>
              <vcpupin cpuset='5' vcpu='1'/>
              <emulatorpin cpuset='0-3'/>
            </cputune>
            """);
  }

  @Test
  void noPinToNowhere() {
    assertThatIllegalArgumentException().isThrownBy(() -> CpuTune.pins(Map.of(0, CpuSet.of())));
  }
}
