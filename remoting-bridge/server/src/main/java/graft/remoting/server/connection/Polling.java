package graft.remoting.server.connection;

import java.util.function.BooleanSupplier;

/**
 * How the threads of data connections wait: they poll for a moment, then poll while letting other
 * threads run, and only then sleep, because waking a thread takes 0.2 to 0.4 ms in a virtual
 * machine. On hosts with few CPUs, threads sleep after the first moment.
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

  /** A condition whose evaluation may fail. */
  interface Question<E extends Exception> {
    boolean isAnswered() throws E;
  }

  /** Polls for as long as a connection's thread may, until {@code there} returns true. */
  void poll(BooleanSupplier there) {
    poll(yields ? CONNECTION_NANOS : spinNanos, there::getAsBoolean);
  }

  /** Polls for as long as the executor may, until {@code over} returns true. */
  <E extends Exception> void pollForTransfer(Question<E> over) throws E {
    poll(yields ? TRANSFER_NANOS : spinNanos, over);
  }

  /** Polls a connection on which a chunk has just arrived, letting other threads run. */
  @SuppressWarnings("ThreadPriorityCheck") // yielding to other threads is the purpose
  <E extends Exception> void pollBehindChunk(Question<E> there) throws E {
    long start = System.nanoTime();
    while (!there.isAnswered() && yields && System.nanoTime() - start < CONNECTION_NANOS) {
      Thread.yield();
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // yielding to other threads is the purpose
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
