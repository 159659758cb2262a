package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.step.guest.DefineGuest;
import org.junit.jupiter.api.Test;

/** What a definition for somebody else to own keeps and lacks. */
class ExportedDomainTest {
  private static final String PLANNED =
      """
      <domain type='kvm'>
        <name>alice</name>
        <uuid>6f4f4f4f-0000-0000-0000-000000000000</uuid>
        <metadata>
          <graft:guest deployment='lab' xmlns:graft='urn:graft:guest:1'/>
        </metadata>
        <memory unit='KiB'>196608</memory>
        <devices>
          <interface type='client'>
            <source address='127.0.0.1' port='7799'/>
          </interface>
          <interface type='network'>
            <source network='default'/>
          </interface>
          <shmem name='graft.lab.alice'>
            <model type='ivshmem-plain'/>
          </shmem>
          <channel type='unix'>
            <target name='org.qemu.guest_agent.0' type='virtio'/>
          </channel>
        </devices>
      </domain>
      """;

  @Test
  void nothingMarksItAsGraftsAndNothingReachesItsServers() {
    ExportedDomain exported =
        ExportedDomain.of(new DefineGuest("qemu:///system", "alice", "", "", PLANNED));
    assertThat(exported.guest()).isEqualTo("alice");
    assertThat(exported.xml())
        .startsWith("<domain type='kvm'>")
        .contains("<name>alice</name>", "<source network='default'/>", "guest_agent")
        .doesNotContain("graft", "uuid", "metadata", "client", "shmem", "7799");
    assertThat(exported.leftOut()).hasSize(2);
  }

  @Test
  void aPlainDefinitionLacksNothing() {
    String plain = PLANNED.replaceAll("(?s) +<interface type='client'>.*?</interface>\n", "");
    plain = plain.replaceAll("(?s) +<shmem.*?</shmem>\n", "");
    ExportedDomain exported =
        ExportedDomain.of(new DefineGuest("qemu:///system", "alice", "", "", plain));
    assertThat(exported.leftOut()).isEmpty();
  }
}
