package graft.remoting.server.connection;

import graft.remoting.server.system.CpuContention;
import java.util.function.BooleanSupplier;

/**
 * How the threads of data connections wait: they poll for a moment, then poll while letting other
 * threads run, and only then sleep, because waking a thread takes 0.2 to 0.4 ms in a virtual
 * machine. On hosts with few CPUs, and while other threads want the CPUs, threads sleep sooner.
 */
final class Polling {
  /** How long a connection's thread polls for its next chunk. */
  private static final long CONNECTION_NANOS = 1_000_000;

  /** How long the executor polls for the data of a transfer. */
  private static final long TRANSFER_NANOS = 10_000_000;

  private static final int MANY_CPUS = 4;

  private final long spinNanos;
  private final boolean yields;
  private final CpuContention contention = CpuContention.shared();

  Polling(long spinNanos) {
    this.spinNanos = spinNanos;
    this.yields = mayYield(spinNanos);
  }

  /** Returns how long a thread that has polled for this long polls in spite of contention. */
  static long lingerNanos(long spinNanos) {
    return mayYield(spinNanos) ? CpuContention.MOMENT_NANOS : 0;
  }

  private static boolean mayYield(long spinNanos) {
    return spinNanos > 0 && Runtime.getRuntime().availableProcessors() >= MANY_CPUS;
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
  <E extends Exception> void pollBehindChunk(Question<E> there) throws E {
    poll(0, yields ? CONNECTION_NANOS : 0, there);
  }

  private <E extends Exception> void poll(long limit, Question<E> question) throws E {
    poll(spinNanos, limit, question);
  }

  /** Polls without pause at first, and then lets other threads run. */
  @SuppressWarnings("ThreadPriorityCheck") // yielding to other threads is the purpose
  private <E extends Exception> void poll(long spins, long limit, Question<E> question) throws E {
    long start = System.nanoTime();
    long now = start;
    boolean crowded = contention.isSeen(start);
    long crowdedLimit = Math.min(limit, spins + CpuContention.MOMENT_NANOS);
    while (now - start < (crowded ? crowdedLimit : limit) && !question.isAnswered()) {
      if (crowded || now - start < spins) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
      long last = now;
      now = System.nanoTime();
      crowded = now - start < spins ? contention.isSeen(now) : contention.polled(last, now);
    }
  }
}
