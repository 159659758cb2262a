package graft.deployment.step.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How a running guest gets another number of CPUs. */
class SetCpusTest {
  @ParameterizedTest
  @CsvSource({
    "1, 3, false, PLUG",
    "3, 3, false, NONE",
    "3, 1, false, UNPLUG",
    "1, 3, true, PLUG",
    "3, 3, true, ONLINE",
    "3, 2, true, OFFLINE"
  })
  void onlyTheCpusOfAnEmulatedGuestStayPluggedIn(
      int has, int wanted, boolean emulated, SetCpus.Way way) {
    assertThat(SetCpus.Way.of(has, wanted, emulated)).isEqualTo(way);
  }
}
