package graft.comparison.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

class RestTest {
  /**
   * Returns how often the processor time is looked at.
   *
   * @param millis the processor time of each step
   */
  private static int looks(IntUnaryOperator millis) throws InterruptedException {
    AtomicInteger looks = new AtomicInteger();
    AtomicInteger used = new AtomicInteger();
    Rest.await(
        () -> Duration.ofMillis(used.addAndGet(millis.applyAsInt(looks.getAndIncrement()))),
        Duration.ZERO);
    return looks.get();
  }

  @Test
  void restIsTwoQuietStepsAfterTheLastBusyOne() throws InterruptedException {
    assertThat(looks(step -> 5)).isEqualTo(3);
    assertThat(looks(step -> step == 2 || step == 7 ? 400 : 0)).isEqualTo(5);
    assertThat(looks(step -> step < 6 ? 400 : 0)).isEqualTo(8);
  }

  @Test
  void processesThatNeverRestAreNotWaitedForLongerThanTwentySeconds() throws InterruptedException {
    assertThat(looks(step -> 400)).isEqualTo(41);
  }
}
