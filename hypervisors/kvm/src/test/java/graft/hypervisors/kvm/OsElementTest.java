package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.domain.Boot;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OsElementTest {

  @Test
  void firstDiskByBios() {
    assertThat(built(new Boot.FromDisk(Boot.Firmware.BIOS)))
        .isEqualTo(
            """
            <os>
              <type arch='x86_64' machine='q35'>hvm</type>
              <boot dev='hd'/>
            </os>
            """);
  }

  @Test
  void libvirtPicksTheUefiImage() {
    assertThat(built(new Boot.FromDisk(Boot.Firmware.UEFI)))
        .isEqualTo(
            """
            <os firmware='efi'>
              <type arch='x86_64' machine='q35'>hvm</type>
              <boot dev='hd'/>
            </os>
            """);
  }

  @Test
  void kernelOfTheHost() {
    assertThat(built(new Boot.DirectKernel("/k", Optional.of("/i"), "quiet")))
        .isEqualTo(
            """
            <os>
              <type arch='x86_64' machine='q35'>hvm</type>
              <kernel>/k</kernel>
              <initrd>/i</initrd>
              <cmdline>quiet</cmdline>
            </os>
            """);
  }

  private static String built(Boot boot) {
    return Built.by(domain -> OsElement.append(domain, boot, "x86_64"));
  }
}
