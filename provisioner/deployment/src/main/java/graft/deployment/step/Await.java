package graft.deployment.step;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Asks again and again until something is so, cannot be any more, or time is up.
 *
 * @param timeout how long
 * @param pause between two questions
 */
public record Await(Duration timeout, Duration pause) {
  /** What an answer can be. */
  public enum Answer {
    YES,
    NOT_YET,
    NEVER
  }

  /** How waiting ended. */
  public enum Outcome {
    READY,
    TIMED_OUT,
    FAILED
  }

  /**
   * Waits.
   *
   * @param question asked at once and then after each pause
   * @param waiting told every few seconds for how many seconds it has waited
   * @param stop asked as often; once it is true there is no point in waiting
   * @throws StoppedException if it was stopped
   */
  public Outcome until(Supplier<Answer> question, Consumer<Long> waiting, BooleanSupplier stop)
      throws InterruptedException {
    long start = System.nanoTime();
    long told = 0;
    while (true) {
      if (stop.getAsBoolean()) {
        throw new StoppedException();
      }
      Answer answer = question.get();
      if (answer != Answer.NOT_YET) {
        return answer == Answer.YES ? Outcome.READY : Outcome.FAILED;
      }
      long waited = System.nanoTime() - start;
      if (waited > timeout.toNanos()) {
        return Outcome.TIMED_OUT;
      }
      long seconds = waited / 1_000_000_000;
      if (seconds >= told + 5) {
        told = seconds;
        waiting.accept(seconds);
      }
      Thread.sleep(pause.toMillis());
    }
  }
}
