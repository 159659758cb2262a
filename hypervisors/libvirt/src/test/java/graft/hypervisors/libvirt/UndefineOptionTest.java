package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.calls.LibvirtUri;
import org.junit.jupiter.api.Test;

/** Tests which state is removed with a guest's definition. */
class UndefineOptionTest {
  @Test
  void underKvmGuestsHaveUefiVariablesSnapshotsAndCheckpoints() {
    assertThat(UndefineOption.of(LibvirtUri.QEMU_SYSTEM))
        .containsExactlyInAnyOrder(UndefineOption.values());
  }

  /** libvirt's error otherwise: "unsupported flags (0x16) in function libxlDomainUndefineFlags". */
  @Test
  void libvirtsDriverForXenTakesNothingButSavedMemory() {
    assertThat(UndefineOption.bits(UndefineOption.of(LibvirtUri.XEN_SYSTEM))).isEqualTo(1);
  }
}
