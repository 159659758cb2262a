package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MacAddress;
import org.junit.jupiter.api.Test;

class InterfaceElementTest {

  @Test
  void userMode() {
    assertThat(
            Built.by(
                devices -> InterfaceElement.append(devices, InterfaceSpec.userMode(), "virtio")))
        .isEqualTo(
            """
            <interface type='user'>
              <model type='virtio'/>
            </interface>
            """);
  }

  @Test
  void networkWithAddress() {
    InterfaceSpec spec =
        InterfaceSpec.network("default").withMac(MacAddress.parse("52:54:00:11:22:33"));
    assertThat(Built.by(devices -> InterfaceElement.append(devices, spec, "virtio")))
        .isEqualTo(
            """
            <interface type='network'>
              <source network='default'/>
              <mac address='52:54:00:11:22:33'/>
              <model type='virtio'/>
            </interface>
            """);
  }

  @Test
  void bridge() {
    assertThat(
            Built.by(
                devices ->
                    InterfaceElement.append(devices, InterfaceSpec.bridge("br0"), "netfront")))
        .isEqualTo(
            """
            <interface type='bridge'>
              <source bridge='br0'/>
              <model type='netfront'/>
            </interface>
            """);
  }
}
