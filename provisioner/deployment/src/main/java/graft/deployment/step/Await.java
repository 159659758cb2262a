package graft.deployment.step;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Polls until a condition holds, has become impossible, or a time limit is over.
 *
 * @param timeout the time limit
 * @param pause between two questions
 */
public record Await(Duration timeout, Duration pause) {
  /** The answers. */
  public enum Answer {
    YES,
    NOT_YET,
    NEVER
  }

  /** The outcomes. */
  public enum Outcome {
    READY,
    TIMED_OUT,
    FAILED
  }

  /**
   * Waits.
   *
   * @param question asked at once and then after each pause
   * @param waiting called every few seconds with the seconds waited so far
   * @param stop asked as often; ends the waiting once it is true
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
