package graft.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is costly is looked at for all browsers together. */
@Timeout(120)
class RefreshedTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofMillis(1);

  private final AtomicInteger looks = new AtomicInteger();

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(1);
    }
  }

  @Test
  void manyQuestionsAreOneLook() throws Exception {
    try (Refreshed<Integer> seen = new Refreshed<>("test", LONG, LONG, looks::incrementAndGet)) {
      await(() -> seen.get().value() != null);
      for (int i = 0; i < 1000; i++) {
        assertThat(seen.get().value()).isEqualTo(1);
      }
      assertThat(looks).hasValue(1);
      assertThat(seen.get().tree()).containsKeys("at", "ageSeconds").containsEntry("problem", null);
    }
  }

  @Test
  void nobodyWhoAsksIsNoLookAndAQuestionIsOne() throws Exception {
    Thread[] looking = new Thread[1];
    try (Refreshed<Integer> seen =
        new Refreshed<>(
            "test",
            SHORT,
            Duration.ofMillis(20),
            () -> {
              looking[0] = Thread.currentThread();
              return looks.incrementAndGet();
            })) {
      await(() -> looks.get() > 0 && looking[0].getState() == Thread.State.WAITING);
      int before = looks.get();
      seen.get();
      await(() -> looks.get() > before);
    }
  }

  @Test
  void aLookThatFailsLeavesTheEarlierOneWithTheReason() throws Exception {
    try (Refreshed<Integer> seen =
        new Refreshed<>(
            "test",
            SHORT,
            LONG,
            () -> {
              if (looks.incrementAndGet() > 1) {
                throw new IOException("no libvirt");
              }
              return 7;
            })) {
      await(() -> seen.get().problem() != null);
      assertThat(seen.get().value()).isEqualTo(7);
      assertThat(seen.get().tree()).containsEntry("problem", "no libvirt");
    }
  }
}
