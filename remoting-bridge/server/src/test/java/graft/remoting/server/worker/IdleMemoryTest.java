package graft.remoting.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a worker gives memory back that it needed for a while only. */
final class IdleMemoryTest {
  private long seconds = 100;
  private int given;
  private final IdleMemory memory = new IdleMemory(() -> seconds * 1_000_000_000, () -> given++);

  @Test
  void aWorkerThatStillWaitsGivesItBackOnce() {
    seconds += 6;
    assertThat(memory.look(0)).isFalse();
    seconds += 1;
    assertThat(memory.look(0)).isTrue();
    seconds += 100;
    assertThat(memory.look(0)).isTrue();
    assertThat(given).isEqualTo(1);
  }

  @Test
  void aSessionKeepsItWhileItsClientMakesCalls() {
    for (int call = 1; call <= 20; call++) {
      seconds += 6;
      assertThat(memory.look(call)).isFalse();
    }
    assertThat(given).isZero();
  }

  @Test
  void aSessionGivesItBackEachTimeItsClientRests() {
    for (int rest = 1; rest <= 3; rest++) {
      seconds += 1;
      assertThat(memory.look(rest)).isFalse();
      seconds += 7;
      assertThat(memory.look(rest)).isTrue();
      assertThat(given).isEqualTo(rest);
    }
  }
}
