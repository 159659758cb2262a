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
  void tunnel() {
    assertThat(
            Built.by(
                devices -> InterfaceElement.append(devices, InterfaceSpec.tunnel(8451), "virtio")))
        .isEqualTo(
            """
            <interface type='client'>
              <source address='127.0.0.1' port='8451'/>
              <model type='virtio'/>
            </interface>
            """);
  }

  @Test
  void bridgeWithFilter() {
    InterfaceSpec spec =
        InterfaceSpec.bridge("br0")
            .withMac(MacAddress.parse("52:54:00:11:22:33"))
            .withCleanTraffic();
    assertThat(Built.by(devices -> InterfaceElement.append(devices, spec, "virtio")))
        .isEqualTo(
            """
            <interface type='bridge'>
              <source bridge='br0'/>
              <mac address='52:54:00:11:22:33'/>
              <model type='virtio'/>
              <filterref filter='clean-traffic'>
                <parameter name='MAC' value='52:54:00:11:22:33'/>
              </filterref>
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
