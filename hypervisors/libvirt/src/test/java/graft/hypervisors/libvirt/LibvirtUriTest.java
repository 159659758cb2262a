package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import graft.hypervisors.libvirt.calls.LibvirtUri;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LibvirtUriTest {

  @ParameterizedTest
  @CsvSource({
    "qemu:///system, qemu, true, false",
    "qemu:///session, qemu, true, true",
    "xen:///system, xen, true, false",
    "test:///default, test, true, false",
    "qemu+unix:///system?socket=/run/x, qemu, true, false",
    "qemu+ssh://root@node1/system, qemu, false, false",
    "xen+tls://node1:16514/system?no_verify=1, xen, false, false",
  })
  void knowsDriverAndPlace(String text, String driver, boolean local, boolean session) {
    LibvirtUri uri = LibvirtUri.parse(text);
    assertThat(uri.driver()).isEqualTo(driver);
    assertThat(uri.isLocal()).isEqualTo(local);
    assertThat(uri.isSession()).isEqualTo(session);
    assertThat(uri).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "qemu", "/system", "qemu:system", "qemu:// /system"})
  void refusesWithExamples(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LibvirtUri.parse(text))
        .withMessageContaining("qemu:///system");
  }

  @Test
  void constantsAreWhatTheySay() {
    assertThat(LibvirtUri.QEMU_SESSION.isSession()).isTrue();
    assertThat(LibvirtUri.XEN_SYSTEM.driver()).isEqualTo("xen");
  }
}
