package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.NumaTune;
import graft.hypervisors.libvirt.domain.NumaTuneElement;
import org.junit.jupiter.api.Test;

class NumaTuneElementTest {

  @Test
  void nodesAndMode() {
    NumaTune tune = new NumaTune(CpuSet.parse("0-1,3"), NumaTune.Mode.PREFERRED);
    assertThat(Built.by(domain -> NumaTuneElement.append(domain, tune)))
        .isEqualTo(
            """
            <numatune>
              <memory mode='preferred' nodeset='0-1,3'/>
            </numatune>
            """);
  }
}
