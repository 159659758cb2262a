package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.calls.Advice;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdviceTest {

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "qemu:///system|Failed to connect socket to '/run/libvirt/libvirt-sock': No such file or"
            + " directory|systemctl start libvirtd",
        "xen:///system|Failed to connect socket: No such file or directory|virtxend",
        "qemu:///system|Failed to connect socket: Permission denied|adduser $USER libvirt",
        "qemu:///system|Unable to get system bus connection: Could not connect: No such file or"
            + " directory|qemu:///session",
        "qemu:///session|Failed to connect socket: No such file or directory|install"
            + " libvirt-daemon",
        "foo:///system|no connection driver available for foo:///system|driver-foo",
        "xen:///system|internal error: libxenlight state driver is not active|under Xen",
        "qemu+ssh://root@node1/system|Cannot recv data: Connection refused|'ssh root@node1'",
        "qemu:///system|something new|check that libvirtd runs",
      })
  void onOpenSaysWhatToDoForTheReason(String uri, String reason, String advice) {
    assertThat(Advice.onOpen(LibvirtUri.parse(uri), reason)).contains(advice);
  }

  @Test
  void aDuplicateNameIsNotAFailedOperation() {
    assertThat(
            Advice.on(
                LibvirtError.Code.OPERATION_FAILED,
                "operation failed: domain 'a' already exists with uuid x"))
        .contains("choose another name");
    assertThat(Advice.on(LibvirtError.Code.OPERATION_FAILED, "operation failed: x"))
        .contains("log");
  }

  @Test
  void everyCodeHasAdvice() {
    for (LibvirtError.Code code : LibvirtError.Code.values()) {
      assertThat(Advice.on(code, "")).as(code.name()).isNotBlank();
    }
    assertThat(Advice.on(null, "")).isNotBlank();
  }
}
