package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class MemorySizeTest {

  @Test
  void printsInTheLargestUnitThatDivides() {
    assertThat(MemorySize.ofGib(2)).hasToString("2GiB");
    assertThat(MemorySize.ofMib(1536)).hasToString("1536MiB");
    assertThat(MemorySize.ofKib(3)).hasToString("3KiB");
    assertThat(MemorySize.ofBytes(1025)).hasToString("1025B");
    assertThat(MemorySize.ofBytes(0)).hasToString("0B");
  }

  @Test
  void roundsUpToWholeUnits() {
    assertThat(MemorySize.ofBytes(1).kib()).isEqualTo(1);
    assertThat(MemorySize.ofBytes(1024).kib()).isEqualTo(1);
    assertThat(MemorySize.ofBytes(1 + (1 << 20)).mib()).isEqualTo(2);
  }

  @Test
  void refusesWhatIsNoSize() {
    assertThatIllegalArgumentException().isThrownBy(() -> MemorySize.ofBytes(-1));
    assertThat(MemorySize.ofMib(1)).isLessThan(MemorySize.ofGib(1));
  }
}
