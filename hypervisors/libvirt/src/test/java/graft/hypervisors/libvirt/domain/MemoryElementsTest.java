package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import org.junit.jupiter.api.Test;

class MemoryElementsTest {

  @Test
  void startsWithAllThatItMayHave() {
    assertThat(Built.by(domain -> MemoryElements.append(domain, MemorySize.ofMib(192), false)))
        .isEqualTo(
            """
            <memory unit='KiB'>196608</memory>
            <currentMemory unit='KiB'>196608</currentMemory>
            """);
  }

  @Test
  void doesNotSayHowMuchItHasOfMemoryThatChanges() {
    assertThat(Built.by(domain -> MemoryElements.append(domain, MemorySize.ofMib(192), true)))
        .isEqualTo("<memory unit='KiB'>196608</memory>\n");
  }
}
