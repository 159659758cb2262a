package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CpuSetTest {

  @ParameterizedTest
  @ValueSource(strings = {"0", "0-3", "0-3,8", "1,3,5-6,64-127"})
  void printsWhatItRead(String list) {
    assertThat(CpuSet.parse(list)).hasToString(list);
  }

  @Test
  void joinsNeighbours() {
    assertThat(CpuSet.of(3, 1, 2, 7)).hasToString("1-3,7").isEqualTo(CpuSet.parse("1,2-3,7"));
    assertThat(CpuSet.of()).hasToString("").matches(CpuSet::isEmpty);
  }

  @Test
  void knowsItsMembers() {
    CpuSet set = CpuSet.parse("0-3,8");
    assertThat(set.size()).isEqualTo(5);
    assertThat(set.toArray()).containsExactly(0, 1, 2, 3, 8);
    assertThat(set.contains(8)).isTrue();
    assertThat(set.containsAll(CpuSet.of(1, 8))).isTrue();
    assertThat(set.containsAll(CpuSet.of(4))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "3-1", "-1", "1-2-3", "1,,2"})
  void refusesWhatIsNoList(String list) {
    assertThatIllegalArgumentException().isThrownBy(() -> CpuSet.parse(list));
  }
}
