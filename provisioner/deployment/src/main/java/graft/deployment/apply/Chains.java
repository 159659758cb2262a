package graft.deployment.apply;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs chains in parallel. */
final class Chains {
  /** Most of a chain's time is waiting for a guest, so more chains than CPUs are fine. */
  private static final int MOST = 16;

  private Chains() {}

  /**
   * Runs all chains and waits for them. No thread is interrupted, because an interrupt closes the
   * file channel of the journal.
   *
   * @return whether all answered true
   */
  static boolean run(List<Callable<Boolean>> chains) throws InterruptedException {
    if (chains.isEmpty()) {
      return true;
    }
    ExecutorService pool =
        Executors.newFixedThreadPool(
            Math.min(MOST, chains.size()),
            task -> {
              Thread thread = new Thread(task, "chain");
              thread.setDaemon(true);
              return thread;
            });
    try {
      List<Future<Boolean>> running = new ArrayList<>();
      chains.forEach(chain -> running.add(pool.submit(chain)));
      boolean well = true;
      for (Future<Boolean> chain : running) {
        well &= chain.get();
      }
      return well;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a chain failed unexpectedly", e.getCause());
    } finally {
      pool.shutdown();
    }
  }
}
