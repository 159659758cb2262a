package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.calls.HypervisorException;
import org.junit.jupiter.api.Test;

final class TransientFailureTest {
  private static HypervisorException failure(String reason) {
    return new HypervisorException("start", "guest 'alice'", reason, "look into libvirt's log");
  }

  @Test
  void onlyAnInterruptedLoadOfABpfProgramIsTriedAgain() {
    assertThat(
            TransientFailure.ofStart(
                failure("failed to load cgroup BPF prog: Resource temporarily unavailable")))
        .isTrue();
    assertThat(
            TransientFailure.ofStart(
                failure("failed to load cgroup BPF prog: Operation not permitted")))
        .isFalse();
    assertThat(
            TransientFailure.ofStart(
                failure("internal error: process exited while connecting to monitor")))
        .isFalse();
  }

  @Test
  void onlyAContainerThatEndedMeanwhileIsKilledAgain() {
    assertThat(
            TransientFailure.ofDestroy(
                failure("Failed to read /sys/fs/cgroup/a.scope/cgroup.threads: No such device")))
        .isTrue();
    assertThat(
            TransientFailure.ofDestroy(
                failure("Failed to kill process 12: Operation not permitted")))
        .isFalse();
  }
}
