package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HypervisorExceptionTest {

  @Test
  void saysWhatWasTriedOnWhatWhyAndWhatToDoNext() {
    HypervisorException e =
        new HypervisorException(
            new HypervisorException.Failure(
                "start",
                "guest 'a' at qemu:///system",
                "no memory",
                "stop another guest first",
                Optional.of(new LibvirtError(55, 20, "no memory"))),
            null);
    assertThat(e)
        .hasMessage(
            "cannot start guest 'a' at qemu:///system: no memory [VIR_ERR_OPERATION_INVALID];"
                + " stop another guest first");
    assertThat(e.is(LibvirtError.Code.OPERATION_INVALID)).isTrue();
    assertThat(e.is(LibvirtError.Code.NO_DOMAIN)).isFalse();
  }

  @Test
  void aDaemonThatDiedIsToldByThePartThatFailed() {
    assertThat(new LibvirtError(38, 7, "Cannot write data: Broken pipe").isLostConnection())
        .isTrue();
    assertThat(new LibvirtError(1, 7, "client socket is closed").isLostConnection()).isTrue();
    assertThat(new LibvirtError(38, 10, "Broken pipe").isLostConnection()).isFalse();
    assertThat(new LibvirtError(42, 7, "no domain").isLostConnection()).isFalse();
  }

  @Test
  void codesThatAreUnknownHereKeepTheirNumber() {
    assertThat(new LibvirtError(110, 0, "").codeName()).isEqualTo("libvirt error 110");
  }

  @Test
  void namesAllThatIsMissing() {
    assertThat(
            new UnsupportedFeatureException(
                "a",
                "xen",
                LibvirtUri.XEN_SYSTEM,
                Set.of(GuestFeature.VSOCK, GuestFeature.GUEST_AGENT),
                feature -> feature == GuestFeature.VSOCK ? "" : "there is no line to it"))
        .hasMessageContaining(
            "xen cannot give the QEMU guest agent (there is no line to it), vsock");
  }
}
