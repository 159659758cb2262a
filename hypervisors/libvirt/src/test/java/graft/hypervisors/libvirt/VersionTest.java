package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.capabilities.Version;
import org.junit.jupiter.api.Test;

class VersionTest {

  @Test
  void decodesLibvirtsNumber() {
    assertThat(Version.decode(7_002_022)).isEqualTo(new Version(7, 2, 22)).hasToString("7.2.22");
  }

  @Test
  void compares() {
    assertThat(new Version(10, 0, 0)).isGreaterThan(new Version(9, 9, 9));
    assertThat(new Version(9, 1, 0)).isGreaterThan(new Version(9, 0, 9));
    assertThat(new Version(9, 0, 1)).isGreaterThan(new Version(9, 0, 0));
  }
}
