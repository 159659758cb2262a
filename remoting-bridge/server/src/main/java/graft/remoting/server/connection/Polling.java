package graft.remoting.server.connection;

import java.util.function.BooleanSupplier;

/**
 * How the threads of data connections wait: they poll for a moment, then go on polling but let
 * other threads run, and only then sleep. To be woken costs 0.2 to 0.4 ms in a virtual machine.
 * Where CPUs are few, threads sleep after the first moment.
 */
final class Polling {
  /** How long a connection's thread polls for its next chunk. */
  private static final long CONNECTION_NANOS = 1_000_000;

  /** How long the executor polls for the data of a transfer. */
  private static final long TRANSFER_NANOS = 10_000_000;

  private static final int MANY_CPUS = 4;

  private final long spinNanos;
  private final boolean yields;

  Polling(long spinNanos) {
    this.spinNanos = spinNanos;
    this.yields = spinNanos > 0 && Runtime.getRuntime().availableProcessors() >= MANY_CPUS;
  }

  /** A question that may fail. */
  interface Question<E extends Exception> {
    boolean isAnswered() throws E;
  }

  /** Polls as long as a connection's thread may; returns as soon as {@code there} says yes. */
  void poll(BooleanSupplier there) {
    poll(yields ? CONNECTION_NANOS : spinNanos, there::getAsBoolean);
  }

  /** Polls as long as the executor may; returns as soon as {@code over} says yes. */
  <E extends Exception> void pollForTransfer(Question<E> over) throws E {
    poll(yields ? TRANSFER_NANOS : spinNanos, over);
  }

  /** Polls on a connection on which a chunk arrived just now, letting other threads run. */
  @SuppressWarnings("ThreadPriorityCheck") // other threads are to run if there are any
  <E extends Exception> void pollBehindChunk(Question<E> there) throws E {
    long start = System.nanoTime();
    while (!there.isAnswered() && yields && System.nanoTime() - start < CONNECTION_NANOS) {
      Thread.yield();
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // other threads are to run if there are any
  private <E extends Exception> void poll(long limit, Question<E> question) throws E {
    long start = System.nanoTime();
    long waited = 0;
    while (waited < limit && !question.isAnswered()) {
      if (waited < spinNanos) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
      waited = System.nanoTime() - start;
    }
  }
}
