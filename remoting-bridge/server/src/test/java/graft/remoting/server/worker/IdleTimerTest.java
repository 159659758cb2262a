package graft.remoting.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class IdleTimerTest {
  private final AtomicLong now = new AtomicLong(-5); // the clock's origin is arbitrary
  private final IdleTimer timer = new IdleTimer(10, now::get);

  private void pass(long seconds) {
    now.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  /** Asks until the answer to the wait for work is known. */
  private boolean isOverSoon(long activity, Runnable work) {
    CountDownLatch asked = new CountDownLatch(1);
    boolean over =
        timer.isOver(
            activity,
            () -> {
              work.run();
              asked.countDown();
            });
    try {
      asked.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    while (!over && System.nanoTime() < deadline) {
      over = timer.isOver(activity, () -> {});
    }
    return over;
  }

  @Test
  void aSessionWithoutALimitIsNeverIdle() {
    IdleTimer never = new IdleTimer(0, now::get);
    assertThat(never.isOver(1, () -> {})).isFalse();
    pass(1_000_000);
    assertThat(never.isOver(1, () -> {})).isFalse();
  }

  @Test
  void quietForTheTimeAndWithoutWorkItIsIdle() {
    assertThat(timer.isOver(1, () -> {})).isFalse();
    pass(10);
    assertThat(isOverSoon(1, () -> {})).isTrue();
  }

  @Test
  void aCallBeginsTheTimeAgain() {
    assertThat(timer.isOver(1, () -> {})).isFalse();
    pass(9);
    assertThat(timer.isOver(2, () -> {})).isFalse();
    pass(9);
    assertThat(timer.isOver(2, () -> {})).isFalse();
    pass(1);
    assertThat(isOverSoon(2, () -> {})).isTrue();
  }

  @Test
  void workBeginsTheTimeAgainWhenItIsOver() throws InterruptedException {
    CountDownLatch working = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    timer.isOver(1, () -> {});
    pass(10);
    timer.isOver(
        1,
        () -> {
          try {
            done.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          working.countDown();
        });
    pass(100);
    assertThat(timer.isOver(1, () -> {})).as("while the device works").isFalse();
    done.countDown();
    working.await();
    pass(9);
    // The wait was noted as long, whenever that is seen: nothing is idle before ten seconds.
    for (int i = 0; i < 1_000; i++) {
      assertThat(timer.isOver(1, () -> {})).isFalse();
    }
  }
}
