package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

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

  @Test
  void makesTerminalsOfFiles() {
    SerialSpec spec = new SerialSpec("/var/log/a.log");
    assertThat(
            Built.by(
                domain -> {
                  Element devices = Xml.add(domain, "devices");
                  Xml.add(devices, "first");
                  SerialElement.append(devices, spec);
                  Xml.add(devices, "last");
                  SerialElement.makeTerminals(domain);
                }))
        .isEqualTo(
            """
            <devices>
              <first/>
              <serial type='pty'>
                <log append='off' file='/var/log/a.log'/>
                <target port='0'/>
              </serial>
              <last/>
            </devices>
            """);
  }

  @Test
  void writesATerminalWhoseOutputIsKept() {
    SerialSpec spec = new SerialSpec("/var/log/a.log");
    assertThat(Built.by(devices -> SerialElement.appendTerminal(devices, spec)))
        .isEqualTo(
            """
            <serial type='pty'>
              <log append='off' file='/var/log/a.log'/>
              <target port='0'/>
            </serial>
            """);
  }
}
