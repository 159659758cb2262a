package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

class ConsoleLogTest {

  @TempDir Path folder;

  @Test
  void tailIsTheEndWithoutTerminalSequences() throws IOException {
    Path file = folder.resolve("console.log");
    Files.writeString(file, "\u001b[2J\u001b[1;1Hfirst\r\n\u001b[0;32mOK\u001b[0m second\r\nthird");
    ConsoleLog log = new ConsoleLog(file, LibvirtUri.QEMU_SYSTEM);
    assertThat(log.tail(2)).containsExactly("OK second", "third");
    assertThat(log.tail(10)).containsExactly("first", "OK second", "third");
  }

  @Test
  void tailOfALongLogReadsOnlyItsEnd() throws IOException {
    Path file = folder.resolve("console.log");
    Files.writeString(file, "x".repeat(1_000_000) + "\nlast\n");
    assertThat(new ConsoleLog(file, LibvirtUri.QEMU_SYSTEM).tail(1)).containsExactly("last");
  }

  @Test
  void aGuestThatHasNotStartedYetHasWrittenNothing() {
    assertThat(new ConsoleLog(folder.resolve("none"), LibvirtUri.QEMU_SYSTEM).tail(5)).isEmpty();
  }

  @Test
  void theFileOfARemoteHostIsNotThisMachines() {
    ConsoleLog log =
        new ConsoleLog(
            folder.resolve("console.log"), LibvirtUri.parse("qemu+ssh://root@node1/system"));
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> log.tail(1))
        .withMessageContaining("another machine");
  }

  @Test
  void findsTheFileOfThePortOrTheLogBesideIt() {
    assertThat(file("<serial type='file'><source path='/a.log'/></serial>")).isEqualTo("/a.log");
    assertThat(file("<serial type='pty'><source path='/dev/pts/1'/><log file='/b.log'/></serial>"))
        .isEqualTo("/b.log");
    assertThat(file("<serial type='pty'><source path='/dev/pts/1'/></serial>")).isEqualTo("none");
  }

  private static String file(String serial) {
    Element domain =
        Xml.parse("<domain><devices>" + serial + "</devices></domain>").getDocumentElement();
    return ConsoleLog.of(LibvirtUri.QEMU_SYSTEM, domain)
        .map(log -> log.path().toString())
        .orElse("none");
  }
}
