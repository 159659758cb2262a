package graft.deployment.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.gpu.CudaDevice;
import graft.sriov.files.RootFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether kernels reach their worker's memory, and what the operator can do about it. */
final class PageableAccessTest {
  @TempDir Path root;

  private static CudaDevice device(boolean pageable, boolean ats) {
    return new CudaDevice(0, "H100", "0000:01:00.0", 1, "9.0", 1, pageable, ats);
  }

  private Optional<Finding> examine(CudaDevice... devices) {
    return PageableAccess.examine(List.of(devices), new RootFolder(root));
  }

  private void parameter(String value) throws IOException {
    Path folder = Files.createDirectories(root.resolve("sys/module/nvidia_uvm/parameters"));
    Files.writeString(folder.resolve("uvm_disable_hmm"), value + "\n");
  }

  @Test
  void whereHmmIsActiveTheParameterThatTurnsItOffIsNamed() throws Exception {
    parameter("N");
    Finding finding = examine(device(false, false), device(true, false)).orElseThrow();
    assertThat(finding.level()).isEqualTo(Finding.Level.WARNING);
    assertThat(finding.found()).contains("uvm_disable_hmm is not set");
    assertThat(finding.fix())
        .contains("options nvidia_uvm uvm_disable_hmm=1 > /etc/modprobe.d/")
        .contains("modprobe nvidia_uvm");
  }

  @Test
  void aParameterThatTheRunningDriverHasNotReadIsToldApart() throws Exception {
    parameter("Y");
    Finding finding = examine(device(true, false)).orElseThrow();
    assertThat(finding.level()).isEqualTo(Finding.Level.WARNING);
    assertThat(finding.found()).contains("has no effect yet");
  }

  @Test
  void whereItIsOffThatIsSaid() throws Exception {
    parameter("Y");
    assertThat(examine(device(false, false)))
        .hasValueSatisfying(f -> assertThat(f.level()).isEqualTo(Finding.Level.OK));
  }

  @Test
  void theHostsPageTablesCannotBeTurnedOff() throws Exception {
    parameter("N");
    Finding finding = examine(device(true, true)).orElseThrow();
    assertThat(finding.subject()).isEqualTo("ATS");
    assertThat(finding.fix()).doesNotContain("modprobe");
  }

  @Test
  void withoutSuchAGpuThereIsNothingToSay() throws Exception {
    assertThat(examine()).isEmpty();
    parameter("N");
    assertThat(examine(device(false, false))).isEmpty();
  }
}
