package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.domain.ChannelSpec;
import org.junit.jupiter.api.Test;

class ChannelElementTest {

  @Test
  void portOfTheGuestAgent() {
    assertThat(Built.by(devices -> ChannelElement.append(devices, ChannelSpec.GUEST_AGENT)))
        .isEqualTo(
            """
            <channel type='unix'>
              <target name='org.qemu.guest_agent.0' type='virtio'/>
            </channel>
            """);
  }
}
