package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.domain.VsockSpec;
import org.junit.jupiter.api.Test;

class VsockElementTest {

  @Test
  void libvirtPicksTheContextId() {
    assertThat(Built.by(devices -> VsockElement.append(devices, VsockSpec.automatic())))
        .isEqualTo(
            """
            <vsock model='virtio'>
              <cid auto='yes'/>
            </vsock>
            """);
  }

  @Test
  void fixedContextId() {
    assertThat(Built.by(devices -> VsockElement.append(devices, VsockSpec.of(42))))
        .isEqualTo(
            """
            <vsock model='virtio'>
              <cid address='42' auto='no'/>
            </vsock>
            """);
  }
}
