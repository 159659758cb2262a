package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SerialElementTest {

  @Test
  void writesAFile() {
    assertThat(Built.by(devices -> SerialElement.append(devices, new SerialSpec("/var/log/a.log"))))
        .isEqualTo(
            """
            <serial type='file'>
              <source path='/var/log/a.log'/>
              <target port='0'/>
            </serial>
            """);
  }
}
