package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DomainSpecTest {

  private static final Boot KERNEL = new Boot.DirectKernel("/vmlinuz", Optional.empty(), "");

  @Test
  void aGuestNeedsSomethingToBoot() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DomainSpec.named("a").build())
        .withMessageContaining("give it a disk or a kernel");
    assertThat(DomainSpec.named("a").boot(KERNEL).build().cpus()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-a", "a b", "a/b", "a\n", "é"})
  void namesEndUpInFileNamesAndShellLines(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DomainSpec.named(name).boot(KERNEL).build());
  }

  @Test
  void noPinForACpuThatIsNotThere() {
    DomainSpec.Builder guest =
        DomainSpec.named("a").boot(KERNEL).cpus(2).cpuTune(CpuTune.pins(Map.of(2, CpuSet.of(0))));
    assertThatIllegalArgumentException()
        .isThrownBy(guest::build)
        .withMessageContaining("pins virtual CPU 2 but has only 2");
  }

  @Test
  void noDeviceTwice() {
    HostdevSpec device = new HostdevSpec.Pci(PciAddress.parse("0000:04:10.0"));
    DomainSpec.Builder guest = DomainSpec.named("a").boot(KERNEL).hostdev(device).hostdev(device);
    assertThatIllegalArgumentException().isThrownBy(guest::build).withMessageContaining("twice");
  }

  @Test
  void sharedMemoryIsAPciBar() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ShmemSpec("a", MemorySize.ofMib(3)))
        .withMessageContaining("power of two");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new ShmemSpec("a", MemorySize.ofKib(512)));
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1, 2, 0xffffffffL})
  void reservedContextIdsAreNoGuests(long cid) {
    assertThatIllegalArgumentException().isThrownBy(() -> VsockSpec.of(cid));
  }

  @Test
  void memoryComesFromSomewhere() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new NumaTune(CpuSet.of(), NumaTune.Mode.STRICT));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new MemoryBacking(Optional.of(MemorySize.ofKib(2047)), false, false))
        .withMessageContaining("power of two");
  }
}
