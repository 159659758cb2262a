package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.capabilities.CapabilitiesXml;
import graft.hypervisors.libvirt.capabilities.FileOwner;
import org.junit.jupiter.api.Test;

class GuestOwnerTest {
  private static CapabilitiesXml capabilities(String models) {
    return new CapabilitiesXml("<capabilities><host>" + models + "</host></capabilities>");
  }

  @Test
  void theModelDacSaysWhoseTheFilesOfGuestsAre() {
    assertThat(
            capabilities(
                    "<secmodel><model>apparmor</model><doi>0</doi></secmodel>"
                        + "<secmodel><model>dac</model><doi>0</doi>"
                        + "<baselabel type='kvm'>+64055:+108</baselabel></secmodel>")
                .guestOwner())
        .contains(new FileOwner(64055, 108));
  }

  @Test
  void withoutItNobodyElseOwnsThem() {
    assertThat(capabilities("").guestOwner()).isEmpty();
    assertThat(capabilities("<secmodel><model>none</model></secmodel>").guestOwner()).isEmpty();
    assertThat(
            capabilities(
                    "<secmodel><model>dac</model><baselabel type='kvm'>label</baselabel></secmodel>")
                .guestOwner())
        .isEmpty();
  }
}
