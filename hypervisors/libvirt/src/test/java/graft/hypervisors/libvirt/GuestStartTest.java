package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.calls.HypervisorException;
import org.junit.jupiter.api.Test;

final class GuestStartTest {
  private static HypervisorException failure(String reason) {
    return new HypervisorException("start", "guest 'alice'", reason, "look into libvirt's log");
  }

  @Test
  void onlyAnInterruptedLoadOfABpfProgramIsTriedAgain() {
    assertThat(
            Guest.passes(
                failure("failed to load cgroup BPF prog: Resource temporarily unavailable")))
        .isTrue();
    assertThat(Guest.passes(failure("failed to load cgroup BPF prog: Operation not permitted")))
        .isFalse();
    assertThat(Guest.passes(failure("internal error: process exited while connecting to monitor")))
        .isFalse();
  }

  @Test
  void onlyAContainerThatEndedMeanwhileIsKilledAgain() {
    assertThat(
            Guest.isEnding(
                failure("Failed to read /sys/fs/cgroup/a.scope/cgroup.threads: No such device")))
        .isTrue();
    assertThat(Guest.isEnding(failure("Failed to kill process 12: Operation not permitted")))
        .isFalse();
  }
}
