package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CpuElementTest {

  @Test
  void theHostsOwnCpuWithKvm() {
    assertThat(Built.by(domain -> CpuElement.append(domain, Acceleration.KVM, 4, false)))
        .isEqualTo(
            """
            <cpu check='none' mode='host-passthrough'>
              <topology cores='4' sockets='1' threads='1'/>
            </cpu>
            """);
  }

  @Test
  void allThatTheEmulatorHas() {
    assertThat(Built.by(domain -> CpuElement.append(domain, Acceleration.EMULATION, 1, false)))
        .isEqualTo(
            """
            <cpu check='none' mode='maximum'>
              <topology cores='1' sockets='1' threads='1'/>
              <feature name='la57' policy='disable'/>
            </cpu>
            """);
  }

  @Test
  void hidingTakesTheHypervisorBitAway() {
    assertThat(Built.by(domain -> CpuElement.append(domain, Acceleration.KVM, 1, true)))
        .contains("<feature name='hypervisor' policy='disable'/>");
  }
}
