package graft.deployment.observe;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.domain.Xml;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Definitions as Graft writes them, and as libvirt returns them. */
class DefinitionFactsTest {
  private static final String WRITTEN =
      """
      <domain type='kvm'>
        <name>alice</name>
        <memory unit='KiB'>524288</memory>
        <currentMemory unit='KiB'>524288</currentMemory>
        <vcpu>1</vcpu>
        <os>
          <type arch='x86_64' machine='q35'>hvm</type>
          <kernel>/images/vmlinuz</kernel>
          <initrd>/images/initramfs.cpio</initrd>
          <cmdline>console=ttyS0 quiet</cmdline>
        </os>
        <devices>
          <disk device='disk' type='file'>
            <driver name='qemu' type='qcow2'/>
            <source file='/images/alice.qcow2'/>
            <target bus='virtio' dev='vda'/>
          </disk>
          <interface type='network'>
            <source network='default'/>
            <model type='virtio'/>
          </interface>
          <interface type='user'>
            <model type='virtio'/>
          </interface>
        </devices>
      </domain>
      """;

  /** As libvirt 9.0 completes it. */
  private static final String COMPLETED =
      """
      <domain type='kvm'>
        <name>alice</name>
        <uuid>6f3c1bd2-1f51-4d8e-8f0a-0d4f1f3f2f10</uuid>
        <memory unit='KiB'>524288</memory>
        <currentMemory unit='KiB'>524288</currentMemory>
        <vcpu placement='static'>1</vcpu>
        <os>
          <type arch='x86_64' machine='pc-q35-7.2'>hvm</type>
          <kernel>/images/vmlinuz</kernel>
          <initrd>/images/initramfs.cpio</initrd>
          <cmdline>console=ttyS0 quiet</cmdline>
          <boot dev='hd'/>
        </os>
        <clock offset='utc'/>
        <on_poweroff>destroy</on_poweroff>
        <devices>
          <emulator>/usr/bin/qemu-system-x86_64</emulator>
          <disk type='file' device='disk'>
            <driver name='qemu' type='qcow2'/>
            <source file='/images/alice.qcow2'/>
            <target dev='vda' bus='virtio'/>
          </disk>
          <interface type='network'>
            <mac address='52:54:00:cb:82:91'/>
            <source network='default'/>
            <model type='virtio'/>
          </interface>
          <interface type='user'>
            <mac address='52:54:00:04:b9:34'/>
            <model type='virtio'/>
          </interface>
          <hostdev mode='subsystem' type='pci' managed='no'/>
        </devices>
      </domain>
      """;

  private static DefinitionFacts of(String xml) {
    return DefinitionFacts.of(Xml.parse(xml).getDocumentElement(), Optional.empty());
  }

  @Test
  void whatLibvirtAddsIsNoChange() {
    assertThat(of(COMPLETED).differencesFrom(of(WRITTEN))).isEmpty();
    assertThat(of(COMPLETED.replace("'KiB'>524288", "'MiB'>512")).differencesFrom(of(WRITTEN)))
        .as("in other units")
        .isEmpty();
  }

  @Test
  void whatAnAdministratorChangesIsNamed() {
    assertThat(
            of(COMPLETED
                    .replace("<memory unit='KiB'>524288", "<memory unit='KiB'>1048576")
                    .replace("<vcpu placement='static'>1", "<vcpu placement='static' current='1'>2")
                    .replace("alice.qcow2", "other.qcow2")
                    .replace("quiet", "quiet init=/bin/sh")
                    .replace("network='default'", "network='lab'"))
                .differencesFrom(of(WRITTEN)))
        .containsExactly(
            "memory 512MiB → 1GiB",
            "CPUs 1 → 2",
            "kernel arguments console=ttyS0 quiet → console=ttyS0 quiet init=/bin/sh",
            "disk vda /images/alice.qcow2 → /images/other.qcow2",
            "networks default and user → lab and user");
    assertThat(
            of(COMPLETED.replace("</devices>", "<disk><target dev='vdb'/></disk></devices>"))
                .differencesFrom(of(WRITTEN)))
        .as("a drive without a medium is nothing")
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<memory unit='KiB'>1e99</memory>",
        "<memory unit='PiB'>1</memory>",
        "<memory unit='GiB'>9223372036854775807</memory>",
        "<memory>9223372036854775807</memory>",
        "<memory/>",
        "<vcpu>many</vcpu><devices><disk/><interface type='network'/></devices>"
      })
  void aStrangeDefinitionIsAChangeAndNoError(String inside) {
    assertThat(of("<domain>" + inside + "</domain>").differencesFrom(of(WRITTEN))).isNotEmpty();
  }
}
