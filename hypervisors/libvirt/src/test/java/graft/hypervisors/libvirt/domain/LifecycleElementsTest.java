package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LifecycleElementsTest {

  @Test
  void onlyARebootIsAChoice() {
    assertThat(Built.by(domain -> LifecycleElements.append(domain, LifecycleAction.RESTART)))
        .isEqualTo(
            """
            <on_poweroff>destroy</on_poweroff>
            <on_reboot>restart</on_reboot>
            <on_crash>destroy</on_crash>
            """);
  }
}
