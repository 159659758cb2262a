package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.MemoryBacking;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MemoryBackingElementTest {

  @Test
  void hugePagesAreShareableByThemselves() {
    assertThat(built(new MemoryBacking(Optional.of(MemorySize.ofGib(1)), true, true)))
        .isEqualTo(
            """
            <memoryBacking>
              <hugepages>
                <page size='1048576' unit='KiB'/>
              </hugepages>
              <locked/>
              <source type='memfd'/>
              <access mode='shared'/>
            </memoryBacking>
            """);
  }

  @Test
  void memoryThatIsSharedLiesInAFile() {
    assertThat(built(new MemoryBacking(Optional.empty(), false, true)))
        .isEqualTo(
            """
            <memoryBacking>
              <source type='memfd'/>
              <access mode='shared'/>
            </memoryBacking>
            """);
  }

  private static String built(MemoryBacking spec) {
    return Built.by(domain -> MemoryBackingElement.append(domain, spec));
  }
}
