package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalHostTest {

  @TempDir Path root;

  @Test
  void kvmWorksWithDeviceAndCpu() {
    assertThat(Hosts.withKvm(root).kvmObstacle(false)).isEmpty();
    assertThat(Hosts.withKvm(root).kvmObstacle(true)).isEmpty();
  }

  @Test
  void noDeviceNoKvm() {
    assertThat(Hosts.withoutKvm(root).kvmObstacle(false).orElseThrow()).contains("load the module");
  }

  @Test
  void aDeviceThatNoCpuStandsBehindIsNoKvm() {
    Hosts.write(root, "dev/kvm", "");
    assertThat(Hosts.withoutKvm(root).kvmObstacle(false).orElseThrow())
        .contains("neither vmx nor svm");
  }

  @Test
  void aDeviceOfRootAloneIsNoUseToGuestsThatRunAsAnother() throws Exception {
    LocalHost host = Hosts.withKvm(root);
    Files.setPosixFilePermissions(
        root.resolve("dev/kvm"), PosixFilePermissions.fromString("rw-------"));
    assertThat(host.kvmObstacle(false).orElseThrow()).contains("chmod 0660 /dev/kvm");
    assertThat(host.kvmObstacle(true)).as("this user owns it").isEmpty();
  }

  @Test
  void intelShowsVmx() {
    Hosts.write(root, "dev/kvm", "");
    Hosts.write(root, "proc/cpuinfo", "flags : fpu vmx\n");
    assertThat(new LocalHost(root).kvmObstacle(false)).isEmpty();
  }

  @Test
  void aWordThatOnlyContainsTheFlagIsNotTheFlag() {
    Hosts.write(root, "dev/kvm", "");
    Hosts.write(root, "proc/cpuinfo", "flags : fpu svm_lock\nvmx flags : vnmi\n");
    assertThat(new LocalHost(root).kvmObstacle(false)).isPresent();
  }

  @Test
  void whereTheCpuHasNoLineOfFlagsTheDeviceDecides() {
    Hosts.write(root, "dev/kvm", "");
    Hosts.write(root, "proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n");
    assertThat(new LocalHost(root).kvmObstacle(false)).isEmpty();
  }

  @Test
  void seesVsockAndUefiImages() {
    assertThat(new LocalHost(root).hasVsock()).isFalse();
    assertThat(new LocalHost(root).hasUefi()).isFalse();
    LocalHost full = Hosts.withKvm(root);
    assertThat(full.hasVsock()).isTrue();
    assertThat(full.hasUefi()).isTrue();
  }
}
